// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Changes replicas apart from their pulls.
package enum ReplicaRules {
    /// Records that the cursor came back, so that everything up to its vector is on the device.
    ///
    /// The cursor becomes the tip of its replica if it was made from the tip, or is the replica's first. If the replica
    /// has gone on without the cursor, the cursor stays unconfirmed: it begins a replica of its own
    /// (``StoredPullContext/isFork``).
    ///
    /// Changes nothing if the cursor was confirmed before and its replica was seen within the touch interval. A cursor
    /// that is not the replica's first is stored later (``DeferredChange``): if it is lost, the device presents it
    /// again.
    ///
    /// - Returns: The cursor's replica.
    /// - Throws: ``StateError/cursorUnknown(_:)`` if the cursor has been collected since: treat it as unknown.
    @discardableResult
    package static func confirm(_ cursor: Cursor, at now: Instant, in account: inout Account) throws -> ReplicaID {
        let row = RowKey(.cursor, of: account.owner, number: cursor.rawValue)
        let found = try account.rows(.replica(namedBy: row)).first { $0.key.kind == .cursor }
        guard let found, var replica = try account.replica(ReplicaID(rawValue: found.rank)) else {
            throw StateError.cursorUnknown(cursor)
        }
        let isNews = replica.newsIndex(of: cursor) != nil
        guard isNews || isDue(now, after: replica.lastSeen, account.setting.limits.touchInterval) else {
            return replica.id
        }
        let change = isNews ? DeferredChange.confirmed(cursor, at: now) : .contact(at: now)
        guard isNews, !replica.isConfirmed else {
            try account.defer(change, of: replica.id)
            return replica.id
        }
        replica.make(change)
        try account.put(replica)
        try account.withKnownHead { head in
            head.newcomers.remove(replica.id)
            if let session = replica[cursor]?.session { head.firstSyncs.end(session) }
        }
        return replica.id
    }

    /// Records a replica's last action, the same action at most once per touch interval; an unknown replica is not an
    /// error.
    package static func touch(
        _ id: ReplicaID, result: String, at now: Instant, in account: inout Account
    ) throws {
        guard let replica = try account.replica(id) else { return }
        guard replica.lastResult == remark(result) else {
            return try account.withReplica(id) { replica in
                replica.make(.contact(at: now))
                replica.lastResult = remark(result)
            }
        }
        guard isDue(now, after: replica.lastSeen, account.setting.limits.touchInterval) else { return }
        try account.defer(.contact(at: now), of: id)
    }

    /// Raises the recorded schema version of a replica's pushes, or of those of the principal's only one; if it has
    /// several, nothing is recorded.
    ///
    /// - Returns: True if the version was raised.
    package static func notePushed(
        _ version: Int, by replica: ReplicaID?, in account: inout Account
    ) throws -> Bool {
        guard let head = try account.head() else { return false }
        let known: ReplicaHead?
        if let replica {
            known = try account.replica(replica)
        } else {
            known = head.replicas == 1 ? try account.replicas(after: .min, limit: 2).replicas.first : nil
        }
        guard let known, known.pushedVersion ?? 0 < version else { return false }
        try account.withReplica(known.id) { $0.pushedVersion = version }
        return true
    }

    /// Allows the next comparisons to delete the records that earlier ones held back.
    package static func acceptDeletions(of id: ReplicaID, at now: Instant, in account: inout Account) throws {
        guard try account.replica(id) != nil else { throw StateError.replicaUnknown(id) }
        try account.withReplica(id) { $0.acceptedAt = max($0.acceptedAt, now) }
    }

    /// Makes the full comparison of every request type due.
    package static func resync(_ id: ReplicaID, at now: Instant, in account: inout Account) throws {
        guard try account.replica(id) != nil else { throw StateError.replicaUnknown(id) }
        // Cursors are compared with this time, and may run ahead of the clock.
        try resync([id], until: now + account.setting.cursorLead, in: &account)
    }

    /// Makes the full comparison due for cursors of up to a time.
    package static func resync(_ ids: [ReplicaID], until time: Instant, in account: inout Account) throws {
        for id in ids { try account.withReplica(id) { $0.resyncAt = max($0.resyncAt, time) } }
    }

    /// Sets contacts of replicas that were recorded in the future to now, for an operator who has accepted the clock.
    package static func acceptClock(of replicas: [ReplicaHead], at now: Instant, in account: inout Account) throws {
        for replica in replicas where replica.lastSeen > now {
            try account.withReplica(replica.id) { $0.lastSeen = now }
        }
    }

    /// Sets contacts of the principal that were recorded in the future to now.
    package static func acceptClock(at now: Instant, in account: inout Account) throws {
        try account.withKnownHead { head in
            head.lastSeen = min(head.lastSeen, now)
        }
        for row in try account.rows(.session) {
            guard var session = try? StoredSession(decoding: row.bytes), session.lastSeen > now else { continue }
            session.lastSeen = now
            try account.put(session, at: row.key)
        }
    }

    /// Forgets a replica with its cursors and its ledger, or what is found of one whose head is damaged; returns false
    /// if there is none.
    ///
    /// With `keepsChunks` pulls that run may read its chunks for another hour.
    @discardableResult
    package static func forget(
        _ id: ReplicaID, keepsChunks: Bool = true, at now: Instant, in account: inout Account
    ) throws -> Bool {
        guard let replica = try account.replica(id) else { return try forgetDamaged(id, in: &account) }
        let older = try deleteOlder(replica.olderPages(account.owner), in: &account)
        for page in replica.pages { account.delete(replica.pageKey(account.owner, page)) }
        for cursor in replica.cursors {
            account.delete(RowKey(.cursor, of: account.owner, number: cursor.cursor.rawValue))
        }
        let layers = replica.layers + older.flatMap(\.layers)
        if keepsChunks {
            try LedgerRules.setLoose(layers, at: now, in: &account)
        } else {
            account.changes.freedChunks += try account.numbers(in: layers.flatMap(\.chunks))
        }
        try RedeliveryRules.dropAll(of: replica, in: &account)
        try TroubleRules.dropAll(of: replica, in: &account)
        try account.removeHead(of: id)
        account.increment(.replicas, by: -1)
        if let newest = replica.newest { account.raise(.newestCursor, to: newest.rawValue) }
        try account.withKnownHead { head in
            // The greatest cursor ever handed out must not become smaller.
            head.newestGone = [head.newestGone, replica.newest].compactMap { $0 }.max()
            head.replicas -= 1
            head.newcomers.remove(id)
            if replica.ledger.base != nil { head.ledgers -= 1 }
        }
        return true
    }

    /// Deletes pages of older cursors, and the rows of these cursors; returns the cursors, without those of a damaged
    /// page.
    static func deleteOlder(_ pages: Lookup, in account: inout Account) throws -> [StoredCursor] {
        var cursors: [StoredCursor] = []
        for row in try account.rows(pages) where account.changes.rows[row.key] != .some(nil) {
            account.delete(row.key)
            if let page = try? CursorPage(decoding: row.bytes) {
                cursors += page.cursors
            } else {
                try deleteCursors(of: ReplicaID(rawValue: Int64(keyBytes: row.key.key)), in: &account)
            }
        }
        for cursor in cursors { account.delete(RowKey(.cursor, of: account.owner, number: cursor.cursor.rawValue)) }
        return cursors
    }

    /// Deletes the rows of all cursors of a replica whose head or page, which names them, cannot be read.
    private static func deleteCursors(of id: ReplicaID, in account: inout Account) throws {
        let all = Lookup.numbered(.cursor, of: account.owner, after: .min, limit: .max, descending: false)
        let rows = try account.rows(all).filter { $0.rank == id.rawValue }
        for row in rows { account.delete(row.key) }
        guard let newest = rows.last.flatMap({ Cursor(rawValue: $0.number) }) else { return }
        account.raise(.newestCursor, to: newest.rawValue)
        try account.withKnownHead { $0.newestGone = [$0.newestGone, newest].compactMap(\.self).max() }
    }

    /// Forgets a replica whose head cannot be read, with what is found by its number; returns false if it is not there.
    private static func forgetDamaged(_ id: ReplicaID, in account: inout Account) throws -> Bool {
        guard try account.isDamaged(id) else { return false }
        for kind in [RowKind.recent, .older, .owed, .trouble] {
            for row in try account.rows(kind, prefix: id.rawValue.keyBytes) { account.delete(row.key) }
        }
        try deleteCursors(of: id, in: &account)
        try account.removeHead(of: id)
        account.increment(.replicas, by: -1)
        try account.withKnownHead { head in
            head.replicas -= 1
            // Whether it had a ledger is unknown.
            head.ledgers = min(head.ledgers, head.replicas)
            head.newcomers.remove(id)
        }
        return true
    }

    /// Returns a replica as the operator sees it.
    package static func describe(
        _ replica: ReplicaHead, of principal: Principal, cursorLead: Int64
    ) -> ReplicaRow {
        let newest = replica.newest.flatMap { replica[$0] }
        return ReplicaRow(
            id: replica.id, principal: principal, isConfirmed: replica.isConfirmed, firstSeen: replica.firstSeen,
            lastSeen: replica.lastSeen, lastResult: replica.lastResult, newest: replica.newest,
            schemaVersion: replica.schemaVersion ?? replica.pushedVersion ?? newest?.schemaVersion, tip: replica.tip,
            horizon: replica.ledger.horizon, ledger: replica.outline(at: replica.tip ?? replica.newest).counts,
            ledgerBytes: replica.ledger.base == nil
                ? 0 : replica.layers.reduce(replica.older.ledgerBytes) { $0 + $1.bytes },
            comparisons: newest?.comparisons ?? [:], acceptedAt: replica.acceptedAt,
            resyncAt: max(0, replica.resyncAt - cursorLead))
    }

    /// The most replicas whose ledgers are looked at for one cursor.
    package static let maximumLedgers = 1_000

    /// Returns the outlines of the ledgers of a principal, for a cursor that was collected: each at its newest
    /// confirmed cursor, and also at the newest cursor made from that one that has not come back, if there is one.
    package static func ledgers(of account: inout Account) throws -> [LedgerOutline] {
        guard let head = try account.head(), head.ledgers > 0 else { return [] }
        let replicas = try account.replicas(after: .min, limit: maximumLedgers).replicas
        return replicas.filter { $0.ledger.base != nil }.flatMap { replica in
            guard let tip = replica.tip else {
                return replica.newest.map { [replica.outline(at: $0)] } ?? []
            }
            let child = replica.cursors.last { $0.parent == tip }?.cursor
            return [tip, child].compactMap { $0 }.map { replica.outline(at: $0) }
        }
    }
}
