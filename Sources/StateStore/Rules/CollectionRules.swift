// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Notes and sessions that the replicas of a principal still need.
package struct NeededByReplicas: Sendable {
    /// The least number of notes that one of them has seen; nil if none needs notes.
    var noted: Int64?
    var sessions: Set<Session> = []

    /// Creates a value for no replica.
    package init() {}
}

/// Deletes what a principal no longer needs.
package enum CollectionRules {
    /// Deletes what replicas no longer need, and adds what they need to what others do; each step collects what the one
    /// before has freed.
    package static func collect(
        _ replicas: [ReplicaHead], _ retention: Retention, leaving needed: inout NeededByReplicas,
        in account: inout Account
    ) throws -> Collected {
        var collected = Collected()
        try account.need(replicas.flatMap { lookups($0, of: account.owner) })
        for var replica in replicas {
            let layers = try collectLayers(&replica, retention, in: &account)
            collected.undos += layers.undos
            collected.siblings += layers.siblings
            try RedeliveryRules.collect(&replica, retention, in: &account)
            collected.cursors += try collectCursors(&replica, retention, in: &account)
            try account.put(replica)
            let noted = try NoteRules.leastNoted(replica, in: &account)
            needed.noted = [needed.noted, noted].compactMap(\.self).min()
            needed.sessions.formUnion(replica.sessions)
        }
        return collected
    }

    /// Deletes what has expired of a principal apart from its replicas.
    package static func collect(
        _ retention: Retention, leaving needed: NeededByReplicas, in account: inout Account
    ) throws -> Collected {
        var collected = Collected()
        guard try account.head() != nil else { return collected }
        collected.receipts = try ReceiptRules.collect(at: retention.now, in: &account)
        collected.notes = try NoteRules.collect(seenBy: needed.noted, retention, in: &account)
        collected.journals = try JournalRules.collect(retention, in: &account)
        collected.sessions = try SessionRules.collect(
            neededBy: needed.sessions, before: retention.seenBefore, in: &account)
        try RefusalRules.collect(before: retention.journalsBefore, in: &account)
        collected.principals = try collectPrincipal(retention, in: &account) ? 1 : 0
        return collected
    }

    /// Returns the pages of older cursors that a collection of a replica looks at.
    private static func lookups(_ replica: ReplicaHead, of owner: Int64) -> [Lookup] {
        guard replica.older.count > 0 else { return [] }
        return [
            replica.olderPages(owner, from: replica.ledger.horizon, limit: maximumPages),
            replica.olderPages(owner, limit: maximumPages),
        ]
    }

    private static func collectPrincipal(_ retention: Retention, in account: inout Account) throws -> Bool {
        guard let head = try account.head() else { return false }
        let isGone =
            head.lastSeen < retention.seenBefore && head.receipts.isEmpty && head.notes == 0
            && head.idSequence == 0 && head.replicas == 0 && head.quarantined == 0 && head.openJournals.isEmpty
        guard isGone, try account.rows(.session).isEmpty, try account.rows(.journal).isEmpty,
            try account.rows(.loose).isEmpty
        else { return false }
        for kind in [RowKind.refusal, .move] {
            for row in try account.rows(kind) { account.delete(row.key) }
        }
        try account.removeHead()
        return true
    }

    /// The most pages of older cursors of a replica that a collection looks at in one step.
    static let maximumPages = 64

    /// Deletes old undos, and the deltas of cursors without which their replica has gone on.
    private static func collectLayers(
        _ replica: inout ReplicaHead, _ retention: Retention, in account: inout Account
    ) throws -> (undos: Int, siblings: Int) {
        let before = retention.undoCursorsBefore
        var (loose, horizon): ([LedgerLayer], Cursor?) = ([], nil)
        var (undos, siblings) = (0, 0)
        func collect(_ cursor: inout StoredCursor, isOlder: Bool, tip: Cursor?) {
            guard cursor.cursor.rawValue < before else { return }
            if let undo = cursor.undo {
                loose.append(undo)
                horizon = max(horizon ?? cursor.cursor, cursor.cursor)
                undos += 1
                cursor.undo = nil
            }
            guard let delta = cursor.delta, let tip, !cursor.isConfirmed, isOlder || cursor.parent != tip else {
                return
            }
            loose.append(delta)
            siblings += 1
            (cursor.delta, cursor.below, cursor.isExact) = (nil, nil, false)
        }
        if replica.older.ledgerBytes > 0 {
            let pages = replica.olderPages(account.owner, from: replica.ledger.horizon, limit: maximumPages)
            for row in try account.rows(pages) {
                var page = try CursorPage(decoding: row.bytes)
                // The cursors of a page go together.
                guard let last = page.cursors.last, last.cursor.rawValue < before else { break }
                let old = page
                for index in page.cursors.indices { collect(&page.cursors[index], isOlder: true, tip: replica.tip) }
                if page != old { try account.put(page, at: row.key) }
            }
            replica.older.ledgerBytes -= loose.reduce(0) { $0 + $1.bytes }
        }
        for index in replica.cursors.indices {
            collect(&replica.cursors[index], isOlder: false, tip: replica.tip)
        }
        if !loose.isEmpty { replica.ledger.version += 1 }
        try LedgerRules.setLoose(loose, at: retention.now, in: &account)
        replica.ledger.horizon = [replica.ledger.horizon, horizon].compactMap { $0 }.max()
        return (undos, siblings)
    }

    /// Deletes cursors that a later, confirmed one replaces, and on which no ledger rests.
    private static func collectCursors(
        _ replica: inout ReplicaHead, _ retention: Retention, in account: inout Account
    ) throws -> Int {
        let before = retention.supersededCursorsBefore
        guard let confirmed = replica.cursors.last(where: \.isConfirmed)?.cursor else { return 0 }
        let compacted = replica.ledger.compacted
        func isGone(_ cursor: StoredCursor) -> Bool {
            cursor.cursor.rawValue < before && cursor.delta == nil && cursor.cursor != compacted
                && cursor.cursor < confirmed
        }
        var gone: [StoredCursor] = []
        if replica.older.count > 0 {
            for row in try account.rows(replica.olderPages(account.owner, limit: maximumPages)) {
                guard let row = account.changes.rows[row.key] ?? row else { continue }
                let page = try CursorPage(decoding: row.bytes).cursors
                guard page.allSatisfy(isGone) else { continue }
                account.delete(row.key)
                replica.older.count -= page.count
                replica.older.ledgerBytes -= page.reduce(0) { $0 + $1.ledgerBytes }
                gone += page
            }
        }
        gone += replica.cursors.filter(isGone)
        guard let newest = gone.last?.cursor else { return 0 }
        replica.cursors.removeAll(where: isGone)
        let undos = gone.filter { $0.undo != nil }
        if !undos.isEmpty { replica.ledger.version += 1 }
        try LedgerRules.setLoose(undos.flatMap(\.layers), at: retention.now, in: &account)
        replica.ledger.horizon = [replica.ledger.horizon, undos.last?.cursor].compactMap { $0 }.max()
        for cursor in gone { account.delete(RowKey(.cursor, of: account.owner, number: cursor.cursor.rawValue)) }
        try account.withKnownHead { head in
            head.newestGone = [head.newestGone, newest].compactMap { $0 }.max()
        }
        return gone.count
    }

    /// Deletes replicas with all that is theirs; returns the number of rows by kind.
    package static func erase(_ replicas: [ReplicaHead], in account: inout Account) throws -> [RowKind: Int] {
        for replica in replicas { try ReplicaRules.forget(replica.id, keepsChunks: false, at: 0, in: &account) }
        var counts = erased(in: account)
        counts[.replica, default: 0] += replicas.count
        return counts
    }

    /// Deletes a part of the rows that belong to the principal; returns their number by kind, which is empty once they
    /// are few enough for one change.
    package static func eraseSome(in account: inout Account) throws -> [RowKind: Int] {
        guard try account.head() != nil else { return [:] }
        for kind in RowKind.owned {
            // Each row of loose chunks has hundreds of them.
            let limit = kind == .loose ? 2 : account.setting.limits.collectBatch
            if try delete(kind, limit: limit, in: &account) == limit { return erased(in: account) }
            account.changes = RowChanges()
        }
        return [:]
    }

    /// Deletes everything that belongs to the principal; returns the number of rows by kind.
    package static func erase(in account: inout Account) throws -> [RowKind: Int] {
        guard try account.head() != nil else { return [:] }
        let replicas = try account.allReplicas()
        let known = Set(replicas.map(\.id.rawValue))
        let damaged = try account.rows(.all(.replica, of: account.owner)).filter { !known.contains($0.number) }
        for row in damaged { try ReplicaRules.forget(ReplicaID(rawValue: row.number), at: 0, in: &account) }
        for kind in RowKind.owned { _ = try delete(kind, limit: .max, in: &account) }
        _ = try erase(replicas, in: &account)
        let layers = try ReplicaRules.deleteOlder(.all(.older, of: account.owner), in: &account).flatMap(\.layers)
        account.changes.freedChunks += try account.numbers(in: layers.flatMap(\.chunks))
        if let newest = try account.head()?.newestGone { account.raise(.newestCursor, to: newest.rawValue) }
        try account.removeHead()
        var counts = erased(in: account)
        counts[.replica, default: 0] += replicas.count + damaged.count
        counts[.principal] = 1
        return counts
    }

    /// Deletes up to so many rows of a kind, with what only they name; returns their number.
    private static func delete(_ kind: RowKind, limit: Int, in account: inout Account) throws -> Int {
        let rows = try account.rows(.rows(kind, of: account.owner, prefix: [], after: nil, limit: limit))
        for row in rows {
            account.delete(row.key)
            // Their bodies are too large to be read only to be deleted.
            if kind == .push { account.delete(RowKey(.pushBody, of: account.owner, number: row.number)) }
            if kind == .loose { account.changes.freedChunks += (try? [Int64](decoding: row.bytes)) ?? [] }
        }
        return rows.count
    }

    /// Returns the number of rows that are deleted so far, by kind.
    private static func erased(in account: Account) -> [RowKind: Int] {
        let gone = account.changes.rows.filter { $0.value == nil }.keys
        var counts = Dictionary(grouping: gone, by: \.kind).mapValues(\.count)
        counts[.chunk] = account.changes.freedChunks.count
        return counts.filter { $0.value > 0 }
    }
}

extension RowKind {
    /// The kinds of rows that belong to a principal, apart from the heads and what only they name.
    static let owned: [RowKind] = [
        .note, .mapping, .backendID, .receipt, .journal, .operation, .push, .refusal, .owed,
        .trouble, .recent, .session, .move, .loose,
    ]
}
