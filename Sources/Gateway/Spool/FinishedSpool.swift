// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication

/// A complete stream in the spool: what goes out of it, and where it lies.
struct FinishedSpool: Sendable {
    /// How much is read from the spool at once, in bytes.
    static let readSize = 256 * 1024

    /// The bytes.
    let spool: Spool
    /// Where each segment lies.
    let segments: [SegmentKey: SegmentIndex]
    /// What becomes of each line.
    let diffed: DiffedLines
    /// The memory of ``diffed``, for as long as anybody has it.
    let room: SpoolLease

    /// What sending takes at the most besides the spool, in bytes: pieces that are read, picked from and compressed,
    /// and the connection's own.
    static let sendingMemory = 4 * readSize

    /// Takes the memory that sending it needs, of a lease that the answer keeps.
    func makeRoomToSend(_ lease: SpoolLease) throws(SpoolError) -> SpoolLease {
        guard lease.takeMemory(Int(min(spool.length, UInt64(Self.sendingMemory)))) else { throw .exhausted }
        return lease
    }

    /// Reads one array of a table, piece by piece, ready to stand between `[` and `]`.
    ///
    /// Chunks of the spool that hold nothing of it are not read, and those that go out as a whole not looked at.
    func forEachPiece(
        of table: Int, array: AnswerArray, _ body: ([UInt8]) async throws -> Void
    ) async throws {
        var picker = LinePicker()
        for (part, wanted) in parts(of: table, array) {
            guard let segment = segments[SegmentKey(table: table, part: part)] else { continue }
            for stretch in segment.stretches(of: wanted) {
                picker.begin(stretch, wanted: wanted)
                var offset = stretch.offset
                let end = stretch.offset + stretch.length
                while offset < end {
                    let piece = try await spool.read(at: offset, upTo: Int(min(end - offset, UInt64(Self.readSize))))
                    offset += UInt64(piece.count)
                    let picked = picker.take(piece)
                    if !picked.isEmpty { try await body(picked) }
                }
            }
        }
    }

    /// One row of a table by its number in the stream, whether it goes out or not; nil where it has more bytes than
    /// that.
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
                let piece = try await spool.read(at: offset, upTo: Int(min(end - offset, UInt64(Self.readSize))))
                offset += UInt64(piece.count)
                row += picker.take(piece)
            }
        }
        return row.isEmpty || row.count > limit ? nil : row
    }

    /// How many elements an array of a table has.
    func count(of table: Int, array: AnswerArray) -> Int {
        parts(of: table, array).reduce(0) { $0 + $1.wanted.count }
    }

    /// How many elements an array has in all tables.
    func count(_ array: AnswerArray) -> Int {
        diffed.verdicts.indices.reduce(0) { $0 + count(of: $1, array: array) }
    }

    /// How many bytes it costs to keep, besides a fixed amount.
    var byteCount: UInt64 { diffed.verdicts.reduce(spool.length) { $0 + UInt64($1.byteCount) } }

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
