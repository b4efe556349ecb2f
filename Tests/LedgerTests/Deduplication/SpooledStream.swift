// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

@testable import Deduplication
@testable import Ledger
@testable import LineProjection
@testable import SyncMachines

/// A stream that is spooled and de-duplicated in memory, with the runs that a gateway would put into a file.
struct SpooledStream {
    /// One line as a test writes it.
    struct Line {
        var table = 0
        var id: String
        var operation: DeduplicationEntry.Operation
        var feed: UInt8 = 0
        /// What the row says, without quotes and backslashes.
        var content = ""
        var links: [UInt64] = []
    }

    /// How many tables there are.
    static let tables = 3

    private var deduplicator: Deduplicator
    private var writers: [SegmentKey: SegmentWriter] = [:]
    private var spool: [UInt8] = []
    private(set) var runs: [UInt8] = []
    private var sequence: UInt64 = 0
    private(set) var diffed = DiffedLines(verdicts: [])

    init(runLength: Int = 1_000) { deduplicator = Deduplicator(runLength: runLength) }

    init(_ lines: [Line], runLength: Int = 1_000, delivery: PullDelivery = .incremental) async throws {
        self.init(runLength: runLength)
        for line in lines { add(line) }
        try await diff(delivery)
    }

    mutating func add(_ line: Line) {
        let text = line.operation == .upsert ? #"{"id":"\#(line.id)","v":"\#(line.content)"}"# : #""\#(line.id)""#
        let key = SegmentKey(table: line.table, part: line.operation == .upsert ? .records : .deletions)
        let number = Array(text.utf8).withUnsafeBytes { writers[key, default: SegmentWriter()].append($0) }
        if writers[key]?.isFull == true { store(key) }
        while let piece = deduplicator.nextRunPiece() { runs += piece }
        let hash = Self.hash(line.id)
        let entry = DeduplicationEntry(
            idHigh: hash.high, idLow: hash.low, sequence: sequence, content: sequence &* 7, line: number,
            rank: TableRank(rawValue: UInt16(line.table)), feed: line.feed, operation: line.operation)
        // The last table has no ledger.
        if line.table == Self.tables - 1 {
            deduplicator.add(entry)
        } else {
            let links = line.operation == .upsert ? line.links : []
            Array(line.id.utf8).withUnsafeBytes { deduplicator.add(entry, id: $0, links: links) }
        }
        sequence += 1
    }

    /// The same id has the same hash in every table; few have a leading word of their own.
    static func hash(_ id: String) -> IDHash {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return IDHash(low: hash, high: hash % 3)
    }

    /// Reads everything that was added so far.
    mutating func reader() -> DeduplicationReader {
        let runs = runs
        return deduplicator.reader { offset, count in Array(runs[Int(offset)..<Int(offset) + count]) }
    }

    mutating func diff(_ delivery: PullDelivery = .incremental) async throws {
        for key in writers.keys where writers[key]?.hasRest == true { store(key) }
        let blank = (0..<Self.tables).map {
            LineVerdicts(
                records: writers[SegmentKey(table: $0, part: .records)]?.lines ?? 0,
                deletions: writers[SegmentKey(table: $0, part: .deletions)]?.lines ?? 0)
        }
        var reader = reader()
        let schema = Schema(tables: (0..<Self.tables).map { Table(name: "t\($0)") })
        diffed = try await DiffedLines(
            of: &reader, schema, order: TableOrder(schema.tables), verdicts: blank, delivery: delivery)
    }

    /// How many runs were taken away.
    var storedRuns: Int { deduplicator.storedRuns.count }

    /// How many elements an array has.
    func count(_ table: Int, _ array: AnswerArray = .updated) -> Int { wanted(table, array).count }

    /// One JSON array of the answer.
    func array(_ table: Int, _ array: AnswerArray = .updated) -> String {
        let wanted = wanted(table, array)
        var picker = LinePicker()
        var picked: [UInt8] = []
        for stretch in stretches(table, array) {
            picker.begin(stretch, wanted: wanted)
            picked += picker.take(Array(spool[Int(stretch.offset)..<Int(stretch.offset + stretch.length)]))
        }
        return "[" + String(decoding: picked, as: UTF8.self) + "]"
    }

    /// What is read for an array.
    func stretches(_ table: Int, _ array: AnswerArray = .updated) -> [SegmentIndex.Stretch] {
        let key = SegmentKey(table: table, part: array == .deleted ? .deletions : .records)
        return writers[key]?.finished().stretches(of: wanted(table, array)) ?? []
    }

    private func wanted(_ table: Int, _ array: AnswerArray) -> LineSet {
        switch array {
        case .created: diffed.verdicts[table].created
        case .updated: diffed.verdicts[table].updated
        case .deleted: diffed.verdicts[table].deleted
        }
    }

    private mutating func store(_ key: SegmentKey) {
        guard let chunk = writers[key]?.takeChunk(storedAt: UInt64(spool.count)) else { return }
        spool += chunk
    }
}

extension DiffedLines {
    /// What becomes of a stream's lines where nothing is known of the device.
    init(
        of reader: inout DeduplicationReader, _ schema: Schema, order: TableOrder, verdicts: [LineVerdicts],
        delivery: PullDelivery
    ) async throws {
        let plan = LedgerDiffPlan(isFirst: delivery == .first, isExact: delivery == .first)
        var diff = LedgerDiff(
            LedgerDiffInput(
                plan: plan, schema: schema, schemaVersion: 1, order: order, types: [:], source: MemoryLedger(),
                key: SipHash.Key(1, 2)),
            verdicts: verdicts)
        try await diff.run(
            &reader, LedgerDiff.Sinks(store: { _ in }, spool: { _ in }, spoolLength: { 0 }))
        self = diff.diffed
    }
}
