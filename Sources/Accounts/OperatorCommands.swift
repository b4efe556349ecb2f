// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

/// Changes the state as operators ask for it.
package struct OperatorCommands: Sendable {
    let accounts: Accounts

    private var index: PrincipalIndex { accounts.index }
    private var store: any ByteStore { accounts.store }

    /// Distrusts what devices have got so far, because a backup was restored behind their backs.
    ///
    /// Cursors of before are compared with everything that the backend has (``StoredPullContext/distrustedAt``). The
    /// sessions' generations are raised, so that no pull that runs meanwhile is committed, and their positions
    /// forgotten (finding 4; `docs/STATE.md`).
    ///
    /// A principal stands for all its scopes, nil for all principals; cursors that were handed out after `now` are
    /// trusted.
    ///
    /// - Returns: The number of principals, one for each scope.
    /// - Throws: ``StateError``; some scopes of a principal may be changed then: run it again.
    package func distrust(
        because restored: RestoredBackup, of principal: Principal?, at now: Instant
    ) async throws -> Int {
        guard principal != nil else { return try await distrustAll(because: restored, at: now) }
        var count = 0
        try await index.forEachPrincipal(behind: principal) { principal in
            // First, so that no cursor is missed: pulls that have begun are not committed any more.
            try await accounts.change(principal) { try SessionRules.raiseGenerations(in: &$0) }
            let time = try await accounts.read(principal) { try SessionRules.distrusted(at: now, of: &$0) }
            _ = try await changeReplicas(of: principal, from: ()) { replicas, isLast, _, account in
                if restored == .state { try ReplicaRules.resync(replicas.map(\.id), until: time, in: &account) }
                if isLast { try SessionRules.distrust(until: time, in: &account) }
            }
            count += 1
        }
        return count
    }

    /// Distrusts what all devices have got so far: one row, which is compared whenever a principal is read.
    private func distrustAll(because restored: RestoredBackup, at now: Instant) async throws -> Int {
        while true {
            let newest = try await accounts.newestCursor()?.time ?? 0
            let rows = try await store.load([StateEpochs.key, MetaKey.principals.row].map(Lookup.row))
            var epochs = try rows[0].first.map { try StateEpochs(decoding: $0.bytes) } ?? StateEpochs()
            epochs.distrust(because: restored, until: max(now + accounts.cursorLead, newest))
            guard try await accounts.replace(rows[0].first, at: StateEpochs.key, with: epochs) else { continue }
            accounts.forgetAll()
            return Int(rows[1].first?.number ?? 0)
        }
    }

    /// Deletes everything that belongs to a principal or to one of its scopes, in several transactions: if it is
    /// interrupted, run it again.
    ///
    /// A sync that runs meanwhile may fail, and one that comes later begins anew. Ledger layers of devices that were
    /// forgotten before name no principal any more, and go with the next collection.
    ///
    /// What belongs to a damaged head goes as well.
    ///
    /// - Returns: The number of rows by the name of their kind; empty if the state does not know the principal.
    package func erase(_ principal: Principal) async throws -> [String: Int] {
        var erased: [RowKind: Int] = [:]
        try await replaceDamagedHeads(of: principal)
        // A head goes last: whoever has none any more is not found again.
        let lines = try await accounts.inspection.quarantinedLines(of: principal, after: 0, limit: .max).map(\.id)
        erased[.line] = try await dropLines(lines).count
        try await index.forEachPrincipal(behind: principal) { principal in
            let forgotten = try await changeReplicas(of: principal, from: ()) { replicas, _, _, account in
                try CollectionRules.erase(replicas, in: &account)
            }.results
            for counts in forgotten { erased.merge(counts, uniquingKeysWith: +) }
            while case let counts = try await accounts.change(principal, { try CollectionRules.eraseSome(in: &$0) }),
                !counts.isEmpty
            { erased.merge(counts, uniquingKeysWith: +) }
            erased.merge(
                try await accounts.change(principal) { try CollectionRules.erase(in: &$0) }, uniquingKeysWith: +)
        }
        if principal.origin == nil { try await eraseScopes(of: principal) }
        return erased.reduce(into: [:]) { named, row in
            if row.value > 0, let name = row.key.name { named[name, default: 0] += row.value }
        }
    }

    /// Replaces damaged heads of a principal and its scopes by ones under which only this command finds what is theirs
    /// (``Principal/init(damaged:)``), and which know only how many replicas there are.
    private func replaceDamagedHeads(of principal: Principal) async throws {
        let scopes = try await store.rows(.all(.scope, of: principal.owner)).map { Int64(keyBytes: $0.key.key) }
        let heads = try await store.load(Set(scopes + [principal.owner]).map { .row(RowKey(.principal, of: $0)) })
        for row in heads.joined() where (try? PrincipalHead(decoding: row.bytes)) == nil {
            var head = PrincipalHead(Principal(damaged: row.key.owner), at: 0)
            head.replicas = try await store.rows(.all(.replica, of: row.key.owner)).count
            head.ledgers = head.replicas
            guard try await accounts.replace(row, at: row.key, with: head) else { throw StateError.busy }
        }
        accounts.forgetAll()
    }

    /// Deletes what names scopes of a user that are gone.
    private func eraseScopes(of user: Principal) async throws {
        let scopes = try await store.rows(.all(.scope, of: user.owner))
        let heads = try await store.load(scopes.map { .row(RowKey(.principal, of: Int64(keyBytes: $0.key.key))) })
        var changes = RowChanges()
        for (scope, head) in zip(scopes, heads) where head.isEmpty { changes.rows[scope.key] = .some(nil) }
        if !changes.isEmpty { try await accounts.commit(changes) }
    }

    /// Schedules quarantined pushes to be retried with their principals' next requests; nil schedules all of them, or
    /// all of one principal.
    ///
    /// - Returns: The numbers of the entries that exist.
    package func scheduleRetries(_ ids: [Int64]?, of principal: Principal?, at now: Instant) async throws -> [Int64] {
        if let principal { _ = try key(principal.rawValue, "principal") }
        let scopes = try await index.principals(behind: principal)
        if scopes?.isEmpty == true { return [] }
        let wanted = if let ids { ids } else { try await pushes(of: scopes) }
        return try await changePushes(wanted) { record, id, account in
            try QuarantineRules.schedule(record, number: id, at: now, in: &account)
            return true
        }
    }

    /// Returns the numbers of the quarantined pushes of principals, or of all.
    private func pushes(of principals: [Principal]?) async throws -> [Int64] {
        if let principals {
            return try await store.load(principals.map { .all(.push, of: $0.owner) }).joined().map(\.number).sorted()
        }
        let limit = accounts.setting.limits.collectBatch
        var numbers: [Int64] = []
        while true {
            let rows = try await store.rows(.all(.push, after: numbers.last ?? 0, limit: limit))
            numbers += rows.map(\.number)
            if rows.count < limit { return numbers }
        }
    }

    /// Deletes quarantined pushes for good.
    ///
    /// - Returns: The numbers of the entries that existed.
    package func dropPushes(_ ids: [Int64]) async throws -> [Int64] {
        try await changePushes(ids) { record, id, account in
            try QuarantineRules.drop(record, number: id, in: &account)
        }
    }

    private func changePushes(
        _ ids: [Int64], _ rule: (PushedRecordKey, Int64, inout Account) throws -> Bool
    ) async throws -> [Int64] {
        var (changed, damage): ([Int64], StateError?) = ([], nil)
        for id in ids {
            guard let (principal, row) = try await index.principal(ofRow: .push, id) else { continue }
            let record = PushedRecordKey(keyBytes: row.key.key[...])
            do {
                if try await accounts.change(principal, { try rule(record, id, &$0) }) { changed.append(id) }
            } catch StateError.corrupt(let what) {
                damage = damage ?? .corrupt("push-\(id): \(what)")
            }
        }
        if let damage { throw damage }
        return changed
    }

    /// Deletes lines.
    ///
    /// - Returns: The numbers of the lines that existed.
    package func dropLines(_ ids: [Int64]) async throws -> [Int64] {
        var (dropped, rest): ([Int64], ArraySlice<Int64>) = ([], ids[...])
        while !rest.isEmpty {
            let limit = accounts.setting.limits.collectBatch
            let rows = try await store.load(rest.prefix(limit).map { .named(.line, $0) }).joined()
            rest = rest.dropFirst(limit)
            var changes = RowChanges()
            for row in rows { changes.rows[row.key] = .some(nil) }
            if !changes.isEmpty { try await accounts.commit(changes) }
            dropped += rows.map(\.number)
        }
        return dropped
    }

    /// Accepts a clock that is behind the state: from the next opening on, cursors are ahead of it by the returned
    /// lead.
    ///
    /// The lead is kept for ever, so cursors remain times, only of another clock. If cursors were counted on from the
    /// newest one instead, a backup of the state that is restored later would hand out the same numbers again.
    package func acceptClock(at now: Instant) async throws -> Int64 {
        let newest = try await accounts.newestCursor()?.time ?? 0
        let known = try await accounts.number(.cursorLead) ?? 0
        let lead = max(known, newest.milliseconds(since: now) + 1)
        var changes = RowChanges()
        changes.floors[MetaKey.cursorLead.row] = lead
        try await accounts.commit(changes)
        try await index.forEachPrincipal(behind: nil) { principal in
            _ = try await changeReplicas(of: principal, from: ()) { replicas, isLast, _, account in
                try ReplicaRules.acceptClock(of: replicas, at: now, in: &account)
                if isLast { try ReplicaRules.acceptClock(at: now, in: &account) }
            }
        }
        return lead
    }

    /// The most replicas that one change of ``changeReplicas(of:keeps:from:_:)`` is about.
    static let replicasAtOnce = 64

    /// Runs a rule for the replicas of a principal, some at a time, each with a change of its own: a login may be that of
    /// thousands of devices, which go on syncing meanwhile.
    ///
    /// The value is what the rule leaves for the next replicas. If there are no replicas, the rule runs once, with none.
    func changeReplicas<T, Value>(
        of principal: Principal, keeps: Bool = true, from start: Value,
        _ rule: ([ReplicaHead], _ isLast: Bool, inout Value, inout Account) throws -> T
    ) async throws -> (results: [T], value: Value) {
        var (results, value, last): ([T], Value, Int64?) = ([], start, .min)
        while let after = last {
            let (result, left, next) = try await accounts.change(principal, keeps: keeps) { account in
                let (replicas, next) = try account.replicas(after: after, limit: Self.replicasAtOnce)
                var left = value
                return (try rule(replicas, next == nil, &left, &account), left, next)
            }
            results.append(result)
            (value, last) = (left, next)
        }
        return (results, value)
    }
}

extension RowKind {
    /// The name by which a report of erased rows counts a kind; nil for those that only help to find others.
    fileprivate var name: String? {
        switch self {
        case .principal, .session, .receipt, .replica, .cursor, .owed, .trouble, .note, .mapping, .refusal, .journal,
            .operation, .line, .push, .chunk:
            "\(self)"
        default: nil
        }
    }
}
