// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Deduplication
import LineProjection
package import SyncModel

/// Compares the lines that a stream has brought since a client's cursor with the client's ledger at that cursor, for
/// the records that it pushes (finding 22).
///
/// A record is in conflict if its final state differs from the entry in the ledger of this replica. Notes of pushes
/// hide no change: they belong to all devices of the principal, and another device's change counts like any. So an own
/// change that was pushed after the cursor counts too, until the client has pulled it once.
package struct ConflictCheck: Sendable {
    /// The change of a record since the cursor.
    package enum Finding: String, Hashable, Sendable {
        /// No change that the push would undo.
        case none
        /// It has other values than the client had.
        case changed
        /// It is there, and the client did not have it.
        case appeared
        /// It is gone.
        case deleted
        /// Its newest line could not be read: it is not in conflict, and what the line says is overwritten unseen.
        case unreadable
    }

    /// A pushed record.
    package struct Subject: Hashable, Sendable {
        /// The client's id of it.
        package var id: String
        /// True if the push deletes the record; a record that is already gone is then no conflict.
        package var isDeletion: Bool
        /// Creates a record.
        package init(id: String, isDeletion: Bool) {
            self.id = id
            self.isDeletion = isDeletion
        }
    }

    /// A finding, with the row of the record that was found.
    package struct Located: Hashable, Sendable {
        /// The change of the record.
        package var finding: Finding
        /// The number of its row within the table's segment; nil where none came.
        package var line: UInt32?
    }

    private let input: LedgerDiffInput
    private let since: CheckpointVector

    /// Creates a check against the ledger of the input, for lines since a vector.
    package init(_ input: LedgerDiffInput, since: CheckpointVector) {
        self.input = input
        self.since = since
    }

    /// Finds the pushed records of one table among the lines that came.
    ///
    /// - Parameters:
    ///   - tableIndex: The table's index in the schema.
    ///   - subjects: The pushed records.
    ///   - reader: All lines that came.
    /// - Returns: The change of each record, in the order of the subjects.
    /// - Throws: Errors of reading, and ``LedgerError`` if the ledger cannot be read.
    package func findings(
        table tableIndex: Int, _ subjects: [Subject], _ reader: inout DeduplicationReader
    ) async throws -> [Located] {
        var findings = Array(repeating: Located(finding: .none), count: subjects.count)
        let definition = input.schema.tables[tableIndex]
        guard definition.since <= input.schemaVersion else { return findings }
        let table = LedgerDiffTable(index: tableIndex, input: input, isParent: false, isCyclic: false)
        guard table.isLedgered else { return findings }
        let resumed = resumedFeeds(definition)
        var view = try LedgerView(
            source: input.source, ledgers: input.ledgers, isUnion: false, preloaded: input.preloaded, table: table.name,
            shape: table.shape, key: input.key)
        let order = subjects.indices.map { (hash: IDHash(id: subjects[$0].id, key: input.key), index: $0) }
            .sorted { $0.hash < $1.hash }
        try await reader.open(input.order.rank[tableIndex])
        var hasGroup = try await reader.next()
        var known = KnownRecord()
        for (hash, index) in order {
            while hasGroup, reader.group.hash < hash { hasGroup = try await reader.next() }
            let isInStream = hasGroup && reader.group.hash == hash
            let unreadable = input.signs.quarantined[tableIndex]?[hash]?.sequence
            guard isInStream || table.hasDeletions || unreadable != nil else { continue }
            known.clear()
            if try await view.seek(to: hash) { known.load(view, table) }
            let group = isInStream ? reader.group : nil
            let finding = Self.finding(known, group, rules: table.rules, unreadable: unreadable, resumed: resumed)
            findings[index].finding = finding == .deleted && subjects[index].isDeletion ? .none : finding
            findings[index].line = group?.upsert?.line
        }
        return findings
    }

    /// Returns the feeds that brought only changes; the others may have brought everything.
    private func resumedFeeds(_ table: Table) -> FeedSet {
        var resumed = FeedSet.all
        for type in table.upsertTypes(at: input.schemaVersion) where since[type] == nil {
            resumed.subtract(FeedSet(feed: table.feed(of: type)))
        }
        return resumed
    }

    /// Returns the change of one record.
    private static func finding(
        _ known: KnownRecord, _ group: RecordGroup?, rules: RecordVerdict.Rules, unreadable: UInt64?, resumed: FeedSet
    ) -> Finding {
        if let unreadable, unreadable > max(group?.upsert?.sequence ?? 0, group?.deletion?.sequence ?? 0) {
            return .unreadable
        }
        switch RecordVerdict(known, group, rules: rules).outcome {
        case .created: return .appeared
        case .updated where known.state != .held: return .appeared
        case .updated:
            // What came because everything comes need not have changed if the content that the client has is unknown.
            let isNews = known.content != nil || !(group?.upsert?.feeds ?? []).isDisjoint(with: resumed)
            return isNews ? .changed : .none
        case .deleted: return known.state == .tombstone ? .none : .deleted
        case .untouched: return known.state == nil && group?.deletion != nil ? .deleted : .none
        case .equal, .kept, .descendant, .absent, .deletedAgain: return .none
        }
    }
}
