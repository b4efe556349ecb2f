// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Deletes what a principal no longer needs.
package enum CollectionRules {
    /// Deletes what has expired, except replicas that were not seen for long; each step collects what the one before
    /// has freed.
    package static func collect(_ retention: Retention, in account: inout Account) throws -> Collected {
        var collected = Collected()
        guard try account.head() != nil else { return collected }
        collected.receipts = try ReceiptRules.collect(at: retention.now, in: &account)
        for var replica in try account.allReplicas() {
            let layers = try collectLayers(&replica, retention, in: &account)
            collected.undos += layers.undos
            collected.siblings += layers.siblings
            try account.put(replica)
        }
        collected.notes = try NoteRules.collect(account.allReplicas(), retention, in: &account)
        for var replica in try account.allReplicas() {
            try RedeliveryRules.collect(&replica, retention, in: &account)
            collected.cursors += try collectCursors(&replica, retention, in: &account)
            try account.put(replica)
        }
        collected.journals = try JournalRules.collect(retention, in: &account)
        collected.sessions = try SessionRules.collect(
            account.allReplicas(), before: retention.seenBefore, in: &account)
        try RefusalRules.collect(before: retention.journalsBefore, in: &account)
        collected.principals = try collectPrincipal(retention, in: &account) ? 1 : 0
        return collected
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
    private static let maximumPages = 64

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
        try LedgerRules.loosen(loose, at: retention.now, in: &account)
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
        try LedgerRules.loosen(undos.flatMap(\.layers), at: retention.now, in: &account)
        replica.ledger.horizon = [replica.ledger.horizon, undos.last?.cursor].compactMap { $0 }.max()
        for cursor in gone { account.delete(RowKey(.cursor, of: account.owner, number: cursor.cursor.rawValue)) }
        try account.withKnownHead { head in
            head.newestGone = [head.newestGone, newest].compactMap { $0 }.max()
        }
        return gone.count
    }

    /// Deletes everything that belongs to the principal; returns the number of rows by kind.
    package static func erase(in account: inout Account) throws -> [RowKind: Int] {
        guard let head = try account.head() else { return [:] }
        let replicas = try account.allReplicas()
        // With those of damaged heads, which are no replicas.
        let heads = try account.rows(.all(.replica, of: account.owner))
        var counts: [RowKind: Int] = [.principal: 1, .replica: heads.count]
        let older = try account.deleteOlder(.all(.older, of: account.owner))
        for cursor in replicas.flatMap(\.cursors) {
            account.delete(RowKey(.cursor, of: account.owner, number: cursor.cursor.rawValue))
        }
        counts[.cursor] = replicas.reduce(older.count) { $0 + $1.cursors.count }
        for kind in RowKind.owned {
            let rows = try account.rows(kind)
            counts[kind] = rows.count
            for row in rows { account.delete(row.key) }
            guard kind == .push else { continue }
            // Their bodies are too large to be read only to be deleted.
            for row in rows { account.delete(RowKey(.pushBody, of: account.owner, number: row.number)) }
        }
        for row in heads { account.delete(row.key) }
        let loose = try account.rows(.loose).flatMap { try [Int64](decoding: $0.bytes) }
        let layers = replicas.flatMap(\.layers) + older.flatMap(\.layers)
        let chunks = try account.numbers(in: layers.flatMap(\.chunks)) + loose
        account.changes.freedChunks += chunks
        counts[.chunk] = chunks.count
        for row in try account.rows(.loose) { account.delete(row.key) }
        for replica in replicas { try account.removeHead(of: replica.id) }
        account.increment(.replicas, by: Int64(-heads.count))
        let newest = (replicas.compactMap(\.newest) + [head.newestGone].compactMap { $0 }).max()
        if let newest { account.raise(.newestCursor, to: newest.rawValue) }
        try account.removeHead()
        return counts
    }
}

extension RowKind {
    /// The kinds of rows that belong to a principal, apart from the heads and what only they name.
    static let owned: [RowKind] = [
        .note, .mapping, .backendID, .receipt, .journal, .operation, .push, .refusal, .owed,
        .trouble, .recent, .session, .move,
    ]
}
