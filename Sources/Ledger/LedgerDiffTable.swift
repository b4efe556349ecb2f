// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
package import SyncModel

/// The counts of a walk over a table.
struct MissingRecords {
    /// Records that the device holds.
    var held = 0
    /// Those held records that would go although no line says so.
    var absent = 0
    /// Records that would be deleted once more.
    var again = 0
}

/// One table while it is diffed.
struct LedgerDiffTable {
    /// The purpose of a walk over the table.
    enum Purpose {
        /// A count of the missing records, before anything is decided.
        case count
        /// A search for any record that is gone by itself, for tables that are each other's parents.
        case find
        /// A search for the records that are gone, the missing ones, and the links by which others would go with them.
        case gather
        /// The decision on every record, with its results written.
        case write
    }

    /// The table's index in the schema.
    let index: Int
    let name: String
    let shape: LedgerShape
    /// True if a ledger of the table is kept.
    let isLedgered: Bool
    /// True if records of other tables are deleted with the table's own.
    let isParent: Bool
    /// True if the table is in a cycle of parents.
    let isCyclic: Bool
    /// The parent tables of each link, by index in the schema.
    let parents: [[Int]]
    /// The request type of every feed at the client's schema version; nil if the feed has none.
    let types: [String?]
    var rules = RecordVerdict.Rules()
    /// The notes of the table's records in the order of their hashes.
    var notes: [(hash: IDHash, note: PushNote)] = []
    /// The outcomes of the pushes that the whole streams need not show yet, by the record.
    private(set) var unsettled: [IDHash: PushNote.State] = [:]
    /// The records of unreadable lines in the order of their hashes, if the table has several feeds: the feed of such a
    /// line is news, although the stream has not brought its record.
    let unread: [IDHash]
    /// The pending redeliveries of the table's records.
    var redeliveries: [IDHash: PendingRedelivery] = [:]
    /// The number of lines that had come before everything was requested again; 0 if nothing else was requested.
    private let wholeFrom: UInt64
    /// True if records that did not come must stay.
    var isHeldBack = false
    /// True if records must stay because it is unknown which of them are missing.
    var isBlind = false
    /// True if the backend currently refuses one of the table's request types: a record may have moved away, unseen,
    /// from the parent that is gone.
    var isRefused: Bool { rules.isRefused }
    /// True if one of the table's request types was not streamed with the others at the presented cursor, or if it is
    /// unknown when it was, for want of a ledger: its lines may be older than theirs.
    let isLate: Bool

    init(index: Int, input: LedgerDiffInput, isParent: Bool, isCyclic: Bool) {
        let table = input.schema.tables[index]
        let plan = input.plan
        let feeds = table.feeds.map { $0.version(at: input.schemaVersion)?.requestType }
        self.index = index
        name = table.name
        shape = LedgerShape(table: table)
        isLedgered = table.isLedgered && !input.types.isEmpty
        wholeFrom = input.comparisonBegan ?? 0
        self.isParent = isParent
        self.isCyclic = isCyclic
        types = feeds
        unread = feeds.count > 1 ? input.signs.quarantined[index]?.keys.sorted() ?? [] : []
        parents = table.links.map { link in
            link.parents.compactMap { name in input.schema.tables.firstIndex { $0.name == name } }
        }
        let asked = feeds.compactMap { $0 }
        isLate = !plan.late.isDisjoint(with: asked) || !isLedgered && !plan.isFirst
        rules.isFirst = plan.isFirst
        rules.isExact = plan.isExact && isLedgered
        rules.isTracked = isLedgered && !asked.contains { plan.untracked.contains($0) }
        let compared = plan.compared.intersection(asked)
        rules.isAudited = isLedgered && !compared.isEmpty && compared.isSubset(of: plan.audited)
        rules.isRenewed = plan.renewed.contains(name)
        rules.isFetched = rules.isRenewed || plan.gained.contains(name)
        rules.isEmpty = plan.empty.contains(name)
        for (feed, type) in feeds.enumerated() where type.map(plan.refused.contains) ?? false {
            rules.refusedFeeds.insert(FeedSet(feed: feed))
        }
        isHeldBack = rules.isRefused
        isBlind = rules.isRefused
        rules.trackedFeeds = []
        for (feed, type) in feeds.enumerated() where isLedgered && type.map({ !plan.untracked.contains($0) }) == true {
            rules.trackedFeeds.insert(FeedSet(feed: feed))
        }
        rules.allFeeds = FeedSet(first: max(1, table.feeds.count))
        for (feed, type) in feeds.enumerated() where isLedgered {
            // A feed that is no longer requested is compared in full with the rest.
            if type.map({ plan.compared.contains($0) }) ?? !plan.compared.isEmpty {
                rules.comparedFeeds.insert(FeedSet(feed: feed))
            }
        }
        if asked.allSatisfy({ !plan.compared.contains($0) }) { rules.comparedFeeds = [] }
        rules.deletions = input.signs.deletions.filter { $0.key.table == index }.map { link, lines in
            .init(link: link.link, feed: FeedSet(feed: link.feed), lines: lines)
        }
        notes =
            isLedgered && !plan.isFirst
            ? input.notes.filter { $0.table == table.name }
                .map { (IDHash(id: $0.id, key: input.key), $0) }
            : []
        if isLedgered, !plan.isFirst { addRedeliveries(input) }
        // What one device has pushed, another need not have: only the ledger of the presented cursor tells.
        if rules.isExact, plan.basis == .cursor, !rules.comparedFeeds.isEmpty {
            for note in input.unsettled where note.table == name {
                unsettled[IDHash(id: note.id, key: input.key)] = note.state
            }
        }
        notes.sort { $0.hash < $1.hash }
    }

    /// Adds a note for each pending redelivery, as if a push had named the record, so that its hash is not believed and
    /// a deletion of it goes out.
    private mutating func addRedeliveries(_ input: LedgerDiffInput) {
        for redelivery in input.redeliveries where redelivery.table == name {
            redeliveries[IDHash(id: redelivery.id, key: input.key)] = redelivery
        }
        guard !redeliveries.isEmpty else { return }
        let noted = Set(notes.map(\.hash))
        for (hash, redelivery) in redeliveries where !noted.contains(hash) {
            notes.append((hash, PushNote(table: name, id: redelivery.id, state: .seen)))
        }
    }

    /// True if a delete line deletes records by the value of a link.
    var hasDeletions: Bool { !rules.deletions.isEmpty }

    /// True if parents of the table's records are gone, or went and came again.
    var hasMovedParents: Bool { !rules.goneParents.isEmpty || !rules.returnedParents.isEmpty }

    /// True if records may be missing because everything came and they did not, or because of their parents.
    var mayMiss: Bool {
        !rules.comparedFeeds.isEmpty || !rules.returnedParents.isEmpty
            || rules.goneParents.contains { $0.records.values.contains(where: \.isAbsent) }
    }

    /// Returns true if a whole stream contradicts a push of the last minutes: it may have been read from a replica that
    /// does not have the push yet, so the record stays until the next comparison.
    func isUnsettled(
        _ verdict: RecordVerdict, of known: KnownRecord, at hash: IDHash, in group: RecordGroup
    ) -> Bool {
        guard let push = unsettled[hash] else { return false }
        switch verdict.outcome {
        case .absent: return push != .gone
        case .created, .updated:
            guard let upsert = group.upsert, redeliveries[hash] == nil else { return false }
            // What is fetched again comes behind the deletions since the cursor: so it was made again.
            if push == .gone, rules.isFetched, let deletion = group.deletion, deletion.sequence < upsert.sequence {
                return false
            }
            // What came before the whole stream is what has changed.
            return upsert.sequence > wholeFrom && known.mayBeOlder(upsert.content, than: push, rules)
        default: return false
        }
    }

    /// Returns true if a row that goes out may be older than the deletion that a push of the last minutes has brought:
    /// then the record is gone, and only the next comparison tells.
    func mayBeGone(
        _ verdict: RecordVerdict, of known: KnownRecord, at hash: IDHash, in group: RecordGroup
    ) -> Bool {
        guard unsettled[hash] == .gone, known.content == nil, let upsert = group.upsert else { return false }
        return [.created, .updated].contains(verdict.outcome) && upsert.sequence > wholeFrom
    }

    /// Returns true if only a comparison can tell what has become of a record.
    ///
    /// An unreadable line may be older than the deletion of a parent in a later part of the stream (finding 16), or than
    /// a deletion by its own feed, of which only the newest line is kept.
    func isOpen(
        _ verdict: RecordVerdict, of known: KnownRecord, _ unreadable: StreamSigns.Unreadable?, in group: RecordGroup?
    ) -> Bool {
        if verdict.isDoubtful || verdict.isAbsent && isRefused { return true }
        guard let unreadable, known.state == .held else { return false }
        if let parent = verdict.parent, parent.resumed >= unreadable.sequence {
            return !parent.takesAlong(unreadable.sequence)
        }
        guard let group, let deletion = group.deletion, deletion.sequence > unreadable.sequence else { return false }
        return !unreadable.feeds.isSubset(of: group.remaining)
    }

    /// Sets the parents that are gone by now; those in `excluded` tables count as present.
    mutating func setParents(_ moved: MovedParents, excluding excluded: [Int] = []) {
        rules.goneParents = []
        rules.returnedParents = []
        for (link, indices) in parents.enumerated() {
            for index in indices where !excluded.contains(index) {
                if let gone = moved.gone[index], !gone.isEmpty {
                    rules.goneParents.append(.init(link: link, records: gone))
                }
                guard let returned = moved.returned[index] else { continue }
                rules.returnedParents.append(.init(link: link, records: returned))
            }
        }
    }

    /// The request types that bring the table's records.
    var requestTypes: Set<String> { Set(types.compactMap { $0 }) }
}

extension LedgerShape {
    /// Creates the shape of a table's entries.
    package init(table: Table) {
        let links = table.links
        var names = links.map { table.columns[$0.column].name }
        // The bits of a stored set mean other feeds if feeds change their order.
        if table.feeds.count > 1 { names += table.feeds.map { $0.versions.first?.requestType ?? "" } }
        let digest = Array(names.joined(separator: "\n").utf8).withUnsafeBytes {
            SipHash.hash64($0, key: SipHash.Key(0, 0))
        }
        self.init(
            links: links.count, feeds: min(table.feeds.count, 64),
            tag: names.isEmpty ? 0 : UInt32(truncatingIfNeeded: digest))
    }
}
