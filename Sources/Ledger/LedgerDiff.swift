// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Deduplication
import LineProjection
package import SyncModel

/// A comparison of a complete stream with the records that a replica holds, which decides what goes out.
///
/// Table by table, parents first, the stream's records, the ledger's entries and the notes of pushes are merged in the
/// order of their hashes. Every record is judged by its final state (``RecordVerdict``); the result for the client
/// becomes a verdict on a line or an id in a list of deletions, and the result for the ledger an entry of the next
/// layer. Memory does not grow with the stream, except for a few bits a line and the digests of deleted parents
/// (``MovedParents``, ``CycleDescent``).
package struct LedgerDiff: Sendable {
    /// The destinations of the results that do not stay in memory.
    package struct Sinks {
        /// The function that stores chunks of the new layer.
        package var store: ([LedgerChunk]) async throws -> Void
        /// The function that appends bytes to the spool.
        package var spool: ([UInt8]) async throws -> Void
        /// The function that returns the offset at which the next bytes of the spool will lie.
        package var spoolLength: () -> UInt64
        /// Creates sinks from their functions.
        package init(
            store: @escaping ([LedgerChunk]) async throws -> Void, spool: @escaping ([UInt8]) async throws -> Void,
            spoolLength: @escaping () -> UInt64
        ) {
            self.store = store
            self.spool = spool
            self.spoolLength = spoolLength
        }
    }

    /// The number of chunks that are gathered before they are stored: about a megabyte.
    static let chunkBatch = 512

    let input: LedgerDiffInput
    /// The current record as it was known before the stream; the storage serves one record after the other.
    var known = KnownRecord()

    /// The verdict on every line.
    package internal(set) var diffed: DiffedLines
    /// Deletions that no line names, by the table's index in the schema.
    var deletions: [SegmentWriter]
    /// The changes of the ledger's size, by table.
    package internal(set) var counts: [String: LedgerCount] = [:]
    /// The figures of the diff, for the log and the metrics.
    package internal(set) var figures = LedgerDiffFigures()
    /// The findings that the course of the pull depends on.
    package internal(set) var report = LedgerDiffReport()

    /// The pending redeliveries that the answer brings.
    package internal(set) var delivered: [PendingRedelivery] = []

    /// Links of records that are gone, and of records that went and came again.
    var parents = MovedParents()
    /// Chunks that are not stored yet.
    var chunks: [LedgerChunk] = []
    var missing = MissingRecords()
    /// The descent through tables that are each other's parents, while such tables are diffed.
    var descent = CycleDescent()

    /// Creates a diff that has not begun; `verdicts` are those of lines that go nowhere yet.
    package init(_ input: LedgerDiffInput, verdicts: [LineVerdicts]) {
        self.input = input
        diffed = DiffedLines(verdicts: verdicts)
        deletions = verdicts.map { _ in SegmentWriter() }
    }

    /// The spool's segments with the deletions that no line names, by the table's index in the schema; valid only once
    /// everything is diffed.
    package var absences: [SegmentIndex] { deletions.map { $0.finished() } }

    /// Diffs all tables.
    ///
    /// If the report asks for a second look, nothing else in it is valid.
    ///
    /// - Throws: ``LedgerError``, and errors of reading and of the sinks.
    package mutating func run(_ reader: inout DeduplicationReader, _ sinks: Sinks) async throws {
        let parents = Set(input.schema.tables.flatMap { $0.links.flatMap(\.parents) })
        try await input.prepareChunks(for: reader)
        var rank = 0
        while rank < input.order.order.count {
            let cycle = input.order.cycle(of: rank)
            let group = cycle ?? rank..<rank + 1
            var tables = input.order.order[group].compactMap { index -> LedgerDiffTable? in
                let table = input.schema.tables[index]
                guard table.since <= input.schemaVersion else { return nil }
                return LedgerDiffTable(
                    index: index, input: input, isParent: parents.contains(table.name), isCyclic: cycle != nil)
            }
            rank = group.upperBound
            try await diff(&tables, reader: &reader, sinks: sinks)
            if report.needsSecondLook { return }
        }
        for index in input.signs.overflowed {
            let feeds = input.schema.tables[index].feeds
            report.suspended.formUnion(feeds.compactMap { $0.version(at: input.schemaVersion)?.requestType })
        }
        try await flush(sinks, isEnd: true)
        for index in diffed.verdicts.indices { diffed.verdicts[index].seal() }
    }

    /// Diffs a group of tables that are each other's parents, or a single table.
    private mutating func diff(
        _ tables: inout [LedgerDiffTable], reader: inout DeduplicationReader, sinks: Sinks
    ) async throws {
        for index in tables.indices { tables[index].setParents(parents) }
        if tables.contains(where: \.isCyclic) {
            try await followCycle(in: &tables, reader: &reader, sinks: sinks)
        } else {
            for index in tables.indices { try await count(&tables[index], reader: &reader, sinks: sinks) }
        }
        if report.needsSecondLook { return }
        for table in tables {
            if table.parents.joined().contains(where: parents.overflowed.contains) { suspend(table) }
            try await walk(table, for: .write, reader: &reader, sinks: sinks)
        }
    }

    /// Finds the descendants of deleted records in tables that are each other's parents, and decides whether they may
    /// be deleted.
    private mutating func followCycle(
        in tables: inout [LedgerDiffTable], reader: inout DeduplicationReader, sinks: Sinks
    ) async throws {
        let indices = tables.map(\.index)
        if !tables.contains(where: { scans($0, .find) }) {
            for table in tables { try await walk(table, for: .find, reader: &reader, sinks: sinks) }
            guard indices.contains(where: parents.areKnown) else { return }
            for index in indices { parents.forget(index) }
        }
        descent = CycleDescent(within: Set(indices))
        defer { descent = CycleDescent() }
        var missing: [MissingRecords] = []
        for table in tables {
            self.missing = MissingRecords()
            try await walk(table, for: .gather, reader: &reader, sinks: sinks)
            missing.append(self.missing)
        }
        descent.sort()
        var all = parents
        descent.follow(&all, keeping: [])
        for index in tables.indices {
            let absent = all.gone[indices[index]]?.values.count(where: \.isAbsent) ?? 0
            missing[index].absent = max(missing[index].absent, absent - missing[index].again)
            decide(&tables[index], missing[index])
        }
        let kept = Set(tables.filter(\.isHeldBack).map(\.index))
        if kept.isEmpty {
            parents = all
        } else {
            for index in kept { parents.forgetAbsent(index) }
            descent.follow(&parents, keeping: kept)
        }
        for index in tables.indices {
            tables[index].setParents(parents, excluding: descent.hasOverflowed ? indices : [])
            // A comparison gathers links even if nothing is gone.
            if descent.hasOverflowed, indices.contains(where: parents.areKnown) { suspend(tables[index]) }
        }
    }

    /// Requests a comparison of a table as soon as possible, unless the table is already being compared.
    private mutating func suspend(_ table: LedgerDiffTable) {
        guard table.isLedgered else { return }
        report.suspended.formUnion(table.requestTypes.subtracting(input.plan.compared))
    }

    /// Counts the missing records of a table and decides whether they may be deleted.
    private mutating func count(
        _ table: inout LedgerDiffTable, reader: inout DeduplicationReader, sinks: Sinks
    ) async throws {
        guard table.isLedgered, table.mayMiss, input.plan.basis != .nothing || !table.notes.isEmpty else { return }
        missing = MissingRecords()
        try await walk(table, for: .count, reader: &reader, sinks: sinks)
        decide(&table, missing)
    }

    private mutating func decide(_ table: inout LedgerDiffTable, _ missing: MissingRecords) {
        guard missing.absent + missing.again > 0, !table.isRefused else { return }
        guard input.plan.isSecondLook else {
            report.needsSecondLook = true
            return
        }
        let compared = table.requestTypes.intersection(input.plan.compared)
        let types = compared.isEmpty ? table.requestTypes : compared
        let limit = input.limit
        if input.signs.isBlind(table.index) {
            table.isHeldBack = true
            table.isBlind = true
            report.suspended.formUnion(types)
        } else if missing.absent > limit.records, limit.percent < 100,
            missing.absent * 100 > missing.held * limit.percent
        {
            table.isHeldBack = !types.isSubset(of: input.plan.released)
            if table.isHeldBack { report.blocked.formUnion(types) } else { report.released.formUnion(types) }
        }
    }

    /// Passes gathered results to the sinks, if there are enough of them or the diff ends.
    mutating func flush(_ sinks: Sinks, isEnd: Bool = false) async throws {
        if chunks.count >= Self.chunkBatch || isEnd && !chunks.isEmpty {
            try await sinks.store(chunks)
            chunks.removeAll(keepingCapacity: true)
        }
        for index in deletions.indices where deletions[index].isFull || isEnd && deletions[index].hasRest {
            try await sinks.spool(deletions[index].takeChunk(storedAt: sinks.spoolLength()))
        }
    }
}
