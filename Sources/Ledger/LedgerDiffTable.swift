// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
package import SyncModel

/// One table while it is diffed.
struct LedgerDiffTable {
    /// The purpose of a walk over the table.
    enum Purpose {
        /// Counts what is missing, before anything is decided.
        case count
        /// Finds whether any record is gone by itself, for tables that are each other's parents.
        case find
        /// Finds those, what is missing, and what would go with what.
        case gather
        /// Decides and writes.
        case write
    }

    /// Its index in the schema.
    let place: Int
    let name: String
    let shape: LedgerShape
    /// True if a ledger is kept of it.
    let isLedgered: Bool
    /// True if records of other tables are deleted with its own.
    let isParent: Bool
    /// True if it is in a cycle of parents.
    let isCyclic: Bool
    /// The links' parents, by index in the schema.
    let parents: [[Int]]
    /// The request type of every feed, as the client's version has it.
    let types: [String?]
    var rules = RecordVerdict.Rules()
    /// The notes of its records in the order of their hashes.
    var notes: [(hash: IDHash, note: PushNote)] = []
    /// The pending redeliveries of its records.
    var redeliveries: [IDHash: PendingRedelivery] = [:]
    /// True if records that did not come must stay.
    var isHeldBack = false
    /// True if they stay because it is unknown which did not come.
    var isBlind = false
    /// True if the backend refuses one of its request types: a record may have moved away from the parent that
    /// has gone.
    var isRefused: Bool { rules.isRefused }
    /// True if one of its request types was not streamed with the others at the presented cursor, so that its lines may
    /// be older than theirs.
    let isLate: Bool

    init(place: Int, input: LedgerDiffInput, isParent: Bool, isCyclic: Bool) {
        let table = input.schema.tables[place]
        let plan = input.plan
        let feeds = table.feeds.map { $0.version(at: input.schemaVersion)?.requestType }
        self.place = place
        name = table.name
        shape = LedgerShape(table: table)
        isLedgered = table.isLedgered && !input.types.isEmpty
        self.isParent = isParent
        self.isCyclic = isCyclic
        types = feeds
        parents = table.links.map { link in
            link.parents.compactMap { name in input.schema.tables.firstIndex { $0.name == name } }
        }
        let asked = feeds.compactMap { $0 }
        isLate = !plan.late.isDisjoint(with: asked)
        rules.isFirst = plan.isFirst
        rules.isExact = plan.isExact && isLedgered
        rules.isTracked = isLedgered && !asked.contains { plan.untracked.contains($0) }
        let compared = plan.compared.intersection(asked)
        rules.isAudited = isLedgered && !compared.isEmpty && compared.isSubset(of: plan.audited)
        rules.isRenewed = plan.renewed.contains(name)
        rules.isFetched = rules.isRenewed || plan.gained.contains(name)
        rules.isEmpty = plan.empty.contains(name)
        for (source, type) in feeds.enumerated() where type.map(plan.refused.contains) ?? false {
            rules.refusedSources |= 1 << UInt64(min(source, 63))
        }
        isHeldBack = rules.isRefused
        isBlind = rules.isRefused
        rules.trackedSources = 0
        for (source, type) in feeds.enumerated() where isLedgered && type.map({ !plan.untracked.contains($0) }) == true
        {
            rules.trackedSources |= 1 << UInt64(min(source, 63))
        }
        rules.allSources = table.feeds.count < 64 ? (1 << UInt64(max(1, table.feeds.count))) - 1 : .max
        for (source, type) in feeds.enumerated() where isLedgered {
            // What is not asked for any more is compared in full with the rest.
            if type.map({ plan.compared.contains($0) }) ?? !plan.compared.isEmpty {
                rules.comparedSources |= 1 << UInt64(min(source, 63))
            }
        }
        if asked.allSatisfy({ !plan.compared.contains($0) }) { rules.comparedSources = 0 }
        rules.deletions = input.signs.deletions.filter { $0.key.table == place }.map { link, sequences in
            .init(link: link.link, source: 1 << UInt64(min(link.source, 63)), sequences: sequences)
        }
        notes =
            isLedgered && !plan.isFirst
            ? input.notes.filter { $0.table == table.name }
                .map { (IDHash(id: $0.id, key: input.key), $0) }
            : []
        if isLedgered, !plan.isFirst { addRedeliveries(input) }
        notes.sort { $0.hash < $1.hash }
    }

    /// Adds pending redeliveries as records named by a push, so that their hashes are not trusted and their deletions
    /// go out.
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

    /// True if records are deleted by the value of a link.
    var hasDeletions: Bool { !rules.deletions.isEmpty }

    /// True if parents of its records are gone, or went and came again.
    var hasMovedParents: Bool { !rules.goneParents.isEmpty || !rules.returnedParents.isEmpty }

    /// True if records may be missing although everything came, or because of their parents.
    var mayMiss: Bool {
        rules.comparedSources != 0 || !rules.returnedParents.isEmpty
            || rules.goneParents.contains { $0.records.values.contains(where: \.isAbsent) }
    }

    /// Tells which parents are gone by now; those of `excluded` tables as if none were.
    mutating func setParents(_ moved: MovedParents, excluding excluded: [Int] = []) {
        rules.goneParents = []
        rules.returnedParents = []
        for (link, places) in parents.enumerated() {
            for place in places where !excluded.contains(place) {
                if let gone = moved.gone[place], !gone.isEmpty {
                    rules.goneParents.append(.init(link: link, records: gone))
                }
                guard let returned = moved.returned[place] else { continue }
                rules.returnedParents.append(.init(link: link, records: returned))
            }
        }
    }

    /// The request types that the table's records come by.
    var requestTypes: Set<String> { Set(types.compactMap { $0 }) }
}

extension LedgerShape {
    /// Creates the shape of a table's entries.
    package init(table: Table) {
        let links = table.links
        var names = links.map { table.columns[$0.column].name }
        // A mask means other sources when feeds change places.
        if table.feeds.count > 1 { names += table.feeds.map { $0.versions.first?.requestType ?? "" } }
        let digest = Array(names.joined(separator: "\n").utf8).withUnsafeBytes {
            SipHash.hash64($0, key: SipHash.Key(0, 0))
        }
        self.init(
            links: links.count, feeds: min(table.feeds.count, 64),
            tag: names.isEmpty ? 0 : UInt32(truncatingIfNeeded: digest))
    }
}
