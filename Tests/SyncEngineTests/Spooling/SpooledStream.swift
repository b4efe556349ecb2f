// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine

/// A stream that is spooled and compacted in memory, with the runs that a gateway would put into a file.
struct SpooledStream {
    /// One line as a test writes it.
    struct Line {
        var table = 0
        var id: String
        var operation: CompactionEntry.Operation
        var source: UInt8 = 0
        /// What the row says, without quotes and backslashes.
        var content = ""
    }

    private var compactor: Compactor
    private var writers: [SegmentKey: SegmentWriter] = [:]
    private var spool: [UInt8] = []
    private var runs: [[CompactionEntry]] = []
    private var sequence: UInt64 = 0
    private(set) var compaction = Compaction()

    init(runLength: Int = 1_000) { compactor = Compactor(runLength: runLength) }

    init(_ lines: [Line], runLength: Int = 1_000) async throws {
        self.init(runLength: runLength)
        for line in lines { add(line) }
        try await finish()
    }

    mutating func add(_ line: Line) {
        let text = line.operation == .upsert ? #"{"id":"\#(line.id)","v":"\#(line.content)"}"# : #""\#(line.id)""#
        let key = SegmentKey(table: line.table, isDeletions: line.operation != .upsert)
        let bytes = Array(text.utf8)
        let (position, length) = bytes.withUnsafeBytes { writers[key, default: SegmentWriter()].append($0) }
        if writers[key]?.isFull == true { store(key) }
        if compactor.isRunFull { runs.append(compactor.takeRun()) }
        // The table takes part in the record's identity, the id's hash alone does not.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in line.id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        compactor.add(
            CompactionEntry(
                idHigh: hash % 3, idLow: hash, sequence: sequence, position: position, length: length,
                table: UInt16(line.table), source: line.source, operation: line.operation))
        sequence += 1
    }

    mutating func finish() async throws {
        for key in writers.keys where writers[key]?.hasRest == true { store(key) }
        let runs = runs
        compaction = try await compactor.finish { run, first, count in Array(runs[run][first..<first + count]) }
    }

    /// How many runs were taken away.
    var storedRuns: Int { runs.count }

    /// The JSON array of one segment.
    func array(_ table: Int, deletions: Bool = false) -> String {
        let key = SegmentKey(table: table, isDeletions: deletions)
        let extents = writers[key]?.finished().live(without: compaction.holes[key] ?? []) ?? []
        let bytes = extents.flatMap { spool[Int($0.offset)..<Int($0.offset + $0.length)] }
        return "[" + String(decoding: bytes, as: UTF8.self) + "]"
    }

    /// How many extents the segment is sent in.
    func extentCount(_ table: Int) -> Int {
        let key = SegmentKey(table: table, isDeletions: false)
        return writers[key]?.finished().live(without: compaction.holes[key] ?? []).count ?? 0
    }

    private mutating func store(_ key: SegmentKey) {
        guard let chunk = writers[key]?.takeChunk(storedAt: UInt64(spool.count)) else { return }
        spool += chunk
    }
}
