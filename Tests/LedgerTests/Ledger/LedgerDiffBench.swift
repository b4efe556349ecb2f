// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import LineProjection
import SyncModel

/// A device, its ledger in memory, and pulls whose streams a test writes line by line.
struct LedgerDiffBench {
    /// What a pull has sent, as `table/id`.
    struct Answer {
        var created: Set<String> = []
        var updated: Set<String> = []
        var deleted: Set<String> = []
        var report = LedgerDiffReport()
        var figures = LedgerDiffFigures()
        var delivered: [String] = []
    }

    static let key = SipHash.Key(5, 6)

    var tables: [Table]
    let ledger = MemoryLedger()
    /// Newest first.
    private(set) var layers: [LedgerLayer] = []
    var notes: [PushNote] = []
    var redeliveries: [PendingRedelivery] = []
    var limit = LedgerDiffInput.AbsenceLimit()

    init(_ tables: Table...) { self.tables = tables }

    /// A table of one request type for each letter; links are given with every line.
    static func table(
        _ name: String, feeds: [String]? = nil, parents: [String] = [], whereColumns: [String] = []
    ) -> Table {
        var table = Table(name: name)
        table.feeds = (feeds ?? [name]).map { Table.Feed(versions: [.init(requestType: $0)]) }
        table.parents = parents.map { Table.Parent(column: "\($0)_id", table: $0) }
        table.columns = parents.map { Column(name: "\($0)_id", type: .string) }
        table.columns += whereColumns.map { Column(name: $0, type: .string) }
        table.deletes = whereColumns.map {
            Table.DeleteRule(type: "\(name)By\($0)", target: .whereColumn($0, equals: Path(name: $0)))
        }
        return table
    }

    /// All request types of tables with a ledger.
    var types: Set<String> {
        Set(tables.filter(\.isLedgered).flatMap { $0.feeds.compactMap { $0.versions.first?.requestType } })
    }

    /// Diffs a stream, which `lines` writes; `change` says what of the plan is not that of an ordinary pull.
    ///
    /// Looks a second time, at the same, where a second look is wanted.
    mutating func pull(
        plan change: (inout LedgerDiffPlan) -> Void, _ lines: (inout Stream) -> Void = { _ in }
    ) async throws -> Answer {
        var plan =
            layers.isEmpty ? LedgerDiffPlan() : LedgerDiffPlan(basis: .cursor, output: .delta, isFirst: false)
        change(&plan)
        let answer = try await diff(plan, lines)
        guard answer.report.needsSecondLook else { return answer }
        plan.isSecondLook = true
        return try await diff(plan, lines)
    }

    /// Diffs the stream of an ordinary pull.
    mutating func pull(_ lines: (inout Stream) -> Void) async throws -> Answer { try await pull(plan: { _ in }, lines) }

    /// Diffs a stream once; only what is complete becomes a layer.
    mutating func diff(_ plan: LedgerDiffPlan, _ lines: (inout Stream) -> Void = { _ in }) async throws -> Answer {
        let schema = Schema(tables: tables)
        var stream = Stream(schema)
        lines(&stream)
        let types = LedgeredType.all(in: tables, at: 1, digests: [:])
        var input = LedgerDiffInput(
            plan: plan, schema: schema, schemaVersion: 1, order: TableOrder(tables), types: types, source: ledger,
            key: Self.key)
        if plan.basis != .nothing { input.ledgers = [layers] }
        input.signs = stream.signs
        input.comparisonBegan = stream.comparisonBegan
        input.notes = notes
        input.redeliveries = redeliveries
        input.limit = limit
        input.now = 1_000
        var diff = LedgerDiff(input, verdicts: stream.verdicts)
        var reader = stream.reader()
        var chunks: [LedgerChunk] = []
        var spooled: [UInt8] = []
        try await diff.run(
            &reader,
            LedgerDiff.Sinks(
                store: { chunks += $0 }, spool: { spooled += $0 }, spoolLength: { UInt64(spooled.count) }))
        var answer = stream.answer(diff, spooled)
        answer.report = diff.report
        answer.figures = diff.figures
        answer.delivered = diff.delivered.map(\.id)
        guard !answer.report.needsSecondLook else { return answer }
        let layer = LedgerLayer((layers.first?.id.rawValue ?? 0) + 1)
        await ledger.add(chunks, to: layer)
        layers = plan.output == .whole ? [layer] : [layer] + layers
        return answer
    }

    /// What the ledger knows of a record.
    func entry(_ table: String, _ id: String) async throws -> LedgerEntry? {
        guard let shape = tables.first(where: { $0.name == table }).map({ LedgerShape(table: $0) }) else { return nil }
        var view = try LedgerView(source: ledger, layers: layers, table: table, shape: shape, key: Self.key)
        return try await view.seek(to: IDHash(id: id, key: Self.key)) ? view.entry : nil
    }

    /// Whether the device is believed to hold a record.
    func holds(_ table: String, _ id: String) async throws -> Bool { try await entry(table, id)?.state == .held }
}

extension LedgerDiffBench {
    /// The lines of one pull.
    struct Stream {
        private let schema: Schema
        private let order: TableOrder
        private var deduplicator = Deduplicator(runLength: 100_000)
        private var rows: [[String]]
        private var deletions: [[String]]
        private(set) var lines: UInt64 = 0
        private(set) var signs = StreamSigns()
        private(set) var comparisonBegan: UInt64?

        init(_ schema: Schema) {
            self.schema = schema
            order = TableOrder(schema.tables)
            rows = Array(repeating: [], count: schema.tables.count)
            deletions = rows
            signs.beginRequest(after: 0)
        }

        /// Another request, as for a second look; or the same one, taken up again after it broke.
        mutating func request(isResumed: Bool = false) { signs.beginRequest(after: lines, isResumed: isResumed) }

        /// The comparison of a whole type.
        mutating func comparison() {
            comparisonBegan = lines
            request()
        }

        /// A row, with the ids of its parents (or values of other links).
        mutating func row(_ table: String, _ id: String, in links: String..., feed: Int = 0, content: UInt64 = 1) {
            let place = place(table)
            rows[place].append(id)
            add(
                place, id, .upsert, feed, line: rows[place].count - 1, content,
                links.map { $0.isEmpty ? 0 : IDHash(id: $0, key: LedgerDiffBench.key).link })
        }

        /// A deletion by id.
        mutating func delete(_ table: String, _ id: String, feed: Int = 0, all: Bool = false) {
            let place = place(table)
            deletions[place].append(id)
            add(place, id, all ? .deleteAll : .delete, feed, line: deletions[place].count - 1, 0, [])
        }

        /// A deletion by the value of a link.
        mutating func delete(_ table: String, where link: Int, is value: String, feed: Int = 0) {
            lines += 1
            signs.delete(
                .init(table: place(table), link: link, feed: feed),
                digest: IDHash(id: value, key: LedgerDiffBench.key).link, sequence: lines, isOrdered: true)
        }

        /// A line that cannot be read; nil where not even the id can.
        mutating func damaged(_ table: String, _ id: String?, feed: Int = 0) {
            lines += 1
            let place = place(table)
            let hash = id.map { IDHash(id: $0, key: LedgerDiffBench.key) }
            signs.quarantine(hash.map { .record(table: place, feed: feed, id: $0) } ?? .table(place), at: lines)
        }

        private func place(_ table: String) -> Int {
            guard let place = schema.tables.firstIndex(where: { $0.name == table }) else { fatalError("no \(table)") }
            return place
        }

        private mutating func add(
            _ place: Int, _ id: String, _ operation: DeduplicationEntry.Operation, _ feed: Int, line: Int,
            _ content: UInt64, _ links: [UInt64]
        ) {
            lines += 1
            let hash = IDHash(id: id, key: LedgerDiffBench.key)
            let entry = DeduplicationEntry(
                idHigh: hash.high, idLow: hash.low, sequence: lines, content: content, line: UInt32(line),
                rank: order.rank[place], feed: UInt8(feed), operation: operation)
            guard schema.tables[place].isLedgered else { return deduplicator.add(entry) }
            Array(id.utf8).withUnsafeBytes { deduplicator.add(entry, id: $0, links: links) }
        }

        mutating func reader() -> DeduplicationReader { deduplicator.reader { _, _ in [] } }

        var verdicts: [LineVerdicts] {
            rows.indices.map { LineVerdicts(records: rows[$0].count, deletions: deletions[$0].count) }
        }

        /// What goes out, by record.
        func answer(_ diff: LedgerDiff, _ spooled: [UInt8]) -> Answer {
            var answer = Answer()
            for (place, verdicts) in diff.diffed.verdicts.enumerated() {
                let name = schema.tables[place].name
                for (line, id) in rows[place].enumerated() {
                    if verdicts.created.contains(line) { answer.created.insert("\(name)/\(id)") }
                    if verdicts.updated.contains(line) { answer.updated.insert("\(name)/\(id)") }
                }
                for (line, id) in deletions[place].enumerated() where verdicts.deleted.contains(line) {
                    answer.deleted.insert("\(name)/\(id)")
                }
                for id in absences(diff.absences[place], spooled) { answer.deleted.insert("\(name)/\(id)") }
            }
            return answer
        }

        private func absences(_ segment: SegmentIndex, _ spooled: [UInt8]) -> [String] {
            guard segment.lines > 0 else { return [] }
            let wanted = LineSet(allOf: segment.lines)
            var picker = LinePicker()
            var picked: [UInt8] = []
            for stretch in segment.stretches(of: wanted) {
                picker.begin(stretch, wanted: wanted)
                picked += picker.take(Array(spooled[Int(stretch.offset)..<Int(stretch.offset + stretch.length)]))
            }
            return String(decoding: picked, as: UTF8.self).split(separator: ",\n")
                .map { String($0.dropFirst().dropLast()) }
        }
    }
}
