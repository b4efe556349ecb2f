// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Deletes what a principal no longer needs.
package enum CollectionRules {
    /// Deletes what has expired, except replicas that were not seen for long; each step collects what the one before has
    /// freed.
    package static func collect(_ retention: Retention, in account: inout Account) throws -> Collected {
        var collected = Collected()
        guard try account.head() != nil else { return collected }
        collected.receipts = try ReceiptRules.collect(at: retention.now, in: &account)
        for var replica in try account.allReplicas() {
            collected.undos += try collectUndos(&replica, retention, in: &account)
            collected.siblings += try collectSiblings(&replica, retention, in: &account)
            try account.put(replica)
        }
        collected.notes = try NoteRules.collect(account.allReplicas(), retention, in: &account)
        for var replica in try account.allReplicas() {
            try RedeliveryRules.collect(&replica, retention, in: &account)
            collected.cursors += try collectCursors(&replica, before: retention.supersededCursorsBefore, in: &account)
            try account.put(replica)
        }
        collected.journals = try JournalRules.collect(retention, in: &account)
        return collected
    }

    /// Deletes the sessions and refusals that are left after replicas were forgotten, and the principal if nothing is.
    package static func finish(_ retention: Retention, in account: inout Account) throws -> Collected {
        var collected = Collected()
        collected.chunks = try collectLoose(retention, in: &account)
        guard let head = try account.head() else { return collected }
        collected.sessions = try SessionRules.collect(
            account.allReplicas(), before: retention.seenBefore, in: &account)
        try RefusalRules.collect(before: retention.journalsBefore, in: &account)
        let isGone =
            head.lastSeen < retention.seenBefore && head.receipts.isEmpty && head.notes == 0
            && head.idSequence == 0 && head.replicas == 0 && head.quarantined == 0 && head.openJournals.isEmpty
        guard isGone, try account.head()?.sessions.isEmpty == true else { return collected }
        guard try account.rows(.journal).isEmpty, try account.rows(.loose).isEmpty else { return collected }
        for row in try account.rows(.refusal) { account.delete(row.key) }
        // The greatest cursor ever handed out must not become smaller when its principal is forgotten.
        if let newest = head.newestGone { account.raise(.newestCursor, to: newest.rawValue) }
        try account.removeHead()
        collected.principals = 1
        return collected
    }

    /// Deletes old undos, but only of cursors that are in the base.
    private static func collectUndos(
        _ replica: inout ReplicaHead, _ retention: Retention, in account: inout Account
    ) throws -> Int {
        guard let compacted = replica.ledger.compacted else { return 0 }
        let gone = replica.ledger.undos.filter {
            $0.cursor.rawValue < retention.undoCursorsBefore && $0.cursor <= compacted
        }
        guard let newest = gone.map(\.cursor).max() else { return 0 }
        try LedgerRules.loosen(gone.flatMap(\.chunks), at: retention.now, in: &account)
        let ids = Set(gone.map(\.id))
        replica.ledger.undos.removeAll { ids.contains($0.id) }
        replica.ledger.horizon = max(replica.ledger.horizon ?? newest, newest)
        return gone.count
    }

    /// Deletes the deltas of cursors without which their replica has gone on.
    private static func collectSiblings(
        _ replica: inout ReplicaHead, _ retention: Retention, in account: inout Account
    ) throws -> Int {
        guard let tip = replica.tip else { return 0 }
        let siblings = replica.cursors.filter {
            $0.delta != nil && !$0.isConfirmed && $0.cursor.rawValue < retention.undoCursorsBefore && $0.parent != tip
        }
        let layers = siblings.compactMap { replica.dropDelta(of: $0.cursor, below: nil) }
        try LedgerRules.loosen(layers.flatMap(\.chunks), at: retention.now, in: &account)
        return siblings.count
    }

    /// Deletes cursors that a later, confirmed one replaces, and on which no ledger rests.
    private static func collectCursors(
        _ replica: inout ReplicaHead, before: Int64, in account: inout Account
    ) throws -> Int {
        guard let confirmed = replica.cursors.last(where: \.isConfirmed)?.cursor else { return 0 }
        let compacted = replica.ledger.compacted
        let gone = replica.cursors.filter {
            $0.cursor.rawValue < before && $0.delta == nil && $0.cursor != compacted && $0.cursor < confirmed
        }
        guard let newest = gone.last?.cursor else { return 0 }
        replica.cursors.removeAll {
            $0.cursor.rawValue < before && $0.delta == nil && $0.cursor != compacted && $0.cursor < confirmed
        }
        for cursor in gone { account.delete(RowKey(.cursor, of: account.owner, number: cursor.cursor.rawValue)) }
        try account.withKnownHead { head in
            head.newestGone = [head.newestGone, newest].compactMap { $0 }.max()
        }
        return gone.count
    }

    /// Deletes chunks that have not been used for an hour; returns their number, and that of the rows that named them.
    private static func collectLoose(_ retention: Retention, in account: inout Account) throws -> Int {
        var count = 0
        for row in try account.rows(.loose) where row.number < retention.stagedBefore.milliseconds {
            guard row.number > 0 else {
                // Whoever has let them loose knew no time: their hour begins now.
                try account.put([Int64](decoding: row.bytes), at: row.key, number: retention.now.milliseconds)
                continue
            }
            let chunks = try [Int64](decoding: row.bytes)
            account.free(chunks)
            account.delete(row.key)
            count += chunks.count + 1
        }
        return count
    }

    /// Deletes everything that belongs to the principal; returns the number of rows by kind.
    package static func erase(in account: inout Account) throws -> [RowKind: Int] {
        guard let head = try account.head() else { return [:] }
        let replicas = try account.allReplicas()
        var counts: [RowKind: Int] = [.principal: 1, .session: head.sessions.count, .replica: replicas.count]
        for cursor in replicas.flatMap(\.cursors) {
            account.delete(RowKey(.cursor, of: account.owner, number: cursor.cursor.rawValue))
        }
        counts[.cursor] = replicas.reduce(0) { $0 + $1.cursors.count }
        for kind in RowKind.owned {
            let rows = try account.rows(kind)
            counts[kind] = rows.count
            for row in rows { account.delete(row.key) }
        }
        let loose = try account.rows(.loose).flatMap { try [Int64](decoding: $0.bytes) }
        let chunks = replicas.flatMap(\.layers).flatMap(\.chunks).filter { $0.bytes == nil }.map(\.number) + loose
        account.free(chunks)
        counts[.chunk] = chunks.count
        for row in try account.rows(.loose) { account.delete(row.key) }
        for replica in replicas { try account.removeHead(of: replica.id) }
        account.increment(.replicas, by: Int64(-replicas.count))
        let newest = (replicas.compactMap(\.newest) + [head.newestGone].compactMap { $0 }).max()
        if let newest { account.raise(.newestCursor, to: newest.rawValue) }
        try account.removeHead()
        return counts
    }
}

extension RowKind {
    /// The kinds of rows that belong to a principal, apart from the heads and what only they name.
    static let owned: [RowKind] = [
        .note, .mapping, .backendID, .receipt, .journal, .operation, .push, .pushBody, .refusal, .owed,
        .trouble,
    ]
}
