// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication

/// Holds a complete stream: the spool, the positions of its segments, and the lines that go out.
struct FinishedSpool: Sendable {
    /// The spool of the lines.
    let spool: Spool
    /// The positions of the segments.
    let segments: [SegmentKey: SegmentIndex]
    /// The verdicts on the lines.
    let diffed: DiffedLines
    /// The memory of ``diffed``, for as long as this value is in use.
    let room: SpoolLease
    /// The length of the spool; other pulls may append to it.
    let length: UInt64

    /// Takes the memory for sending from a lease that the answer keeps: as much as a compressed answer takes.
    func makeRoomToSend(_ lease: SpoolLease) throws(SpoolError) -> SpoolLease {
        let most = SendingPace.memory + SendingPace.compressorMemory
        guard lease.takeMemory(Int(min(length, UInt64(most)))) else { throw .exhausted }
        return lease
    }

    /// Moves what is in memory to the file.
    func moveToFile() async throws(SpoolError) { try await spool.moveToFile(upTo: length) }

    /// Reads one array of a table, piece by piece, ready to be put between `[` and `]`.
    ///
    /// Chunks of the spool without lines of the array are not read, and those that go out as a whole are not parsed.
    /// `prepare` is called before each read, with the offset, and returns the most bytes to read.
    func forEachPiece(
        of table: Int, array: AnswerArray, prepare: (UInt64) async throws -> Int = { _ in SendingPace.largePiece },
        _ body: ([UInt8]) async throws -> Void
    ) async throws {
        var picker = LinePicker()
        for (part, wanted) in parts(of: table, array) {
            guard let segment = segments[SegmentKey(table: table, part: part)] else { continue }
            for stretch in segment.stretches(of: wanted) {
                picker.begin(stretch, wanted: wanted)
                var offset = stretch.offset
                let end = stretch.offset + stretch.length
                while offset < end {
                    let most = try await prepare(offset)
                    let piece = try await spool.read(at: offset, upTo: Int(min(end - offset, UInt64(most))))
                    offset += UInt64(piece.count)
                    let picked = picker.take(piece)
                    if !picked.isEmpty { try await body(picked) }
                }
            }
        }
    }

    /// Returns one row of a table by its number in the stream, even if it does not go out; nil if it has more bytes
    /// than the limit.
    func row(_ line: UInt32, of table: Int, upTo limit: Int) async throws -> [UInt8]? {
        guard let segment = segments[SegmentKey(table: table, part: .records)], line < segment.lines else { return nil }
        var wanted = LineSet(lines: segment.lines)
        wanted.insert(Int(line))
        var picker = LinePicker()
        var row: [UInt8] = []
        for stretch in segment.stretches(of: wanted) {
            picker.begin(stretch, wanted: wanted)
            var offset = stretch.offset
            let end = stretch.offset + stretch.length
            while offset < end, row.count <= limit {
                let most = Int(min(end - offset, UInt64(SendingPace.firstPiece)))
                let piece = try await spool.read(at: offset, upTo: most)
                offset += UInt64(piece.count)
                row += picker.take(piece)
            }
        }
        return row.isEmpty || row.count > limit ? nil : row
    }

    /// Returns the number of elements in an array of a table.
    func count(of table: Int, array: AnswerArray) -> Int {
        parts(of: table, array).reduce(0) { $0 + $1.wanted.count }
    }

    /// Returns the number of elements in an array, over all tables.
    func count(_ array: AnswerArray) -> Int {
        diffed.verdicts.indices.reduce(0) { $0 + count(of: $1, array: array) }
    }

    /// The bytes that it costs to keep, besides a fixed amount.
    var byteCount: UInt64 { diffed.verdicts.reduce(length) { $0 + UInt64($1.byteCount) } }

    private func parts(of table: Int, _ array: AnswerArray) -> [(part: SegmentKey.Part, wanted: LineSet)] {
        let verdicts = diffed.verdicts[table]
        switch array {
        case .created: return [(.records, verdicts.created)]
        case .updated: return [(.records, verdicts.updated)]
        case .deleted:
            let absences = segments[SegmentKey(table: table, part: .absences)]?.lines ?? 0
            return [(.deletions, verdicts.deleted), (.absences, LineSet(allOf: absences))]
        }
    }
}
