// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
package import StateStore
package import SyncModel

/// Answers what the gateway asks of its state by the rules of accounts.
package final class AccountStore: Sendable {
    /// The accounts.
    package let accounts: Accounts
    /// True if other gateways may use the state at the same time.
    package let needsLeases: Bool
    let store: any ByteStore & LeaseKeeping
    let layers = LayerTable()
    let index: PrincipalIndex
    private let collector: StateCollector
    let merges = NIOLockedValueBox<[ReplicaID: LedgerMerge]>([:])
    private let principals = NIOLockedValueBox<[ReplicaID: Principal]>([:])

    /// Creates the state of a store.
    package init(
        _ store: any ByteStore & LeaseKeeping, setting: AccountSetting, versions: VersionSource = VersionSource(),
        needsLeases: Bool = false
    ) {
        self.store = store
        self.needsLeases = needsLeases
        accounts = Accounts(store, setting: setting, versions: versions)
        index = PrincipalIndex(store: store)
        collector = StateCollector(accounts: accounts, index: index)
    }

    /// The limits on what is kept and how often it is written.
    package var limits: StateLimits { accounts.setting.limits }
    /// The lead of cursors over the clock in milliseconds.
    package var cursorLead: Int64 { accounts.setting.cursorLead }

    /// Returns the principal of a replica; nil if there is no such replica.
    func principal(of replica: ReplicaID) async throws -> Principal? {
        if let known = principals.withLockedValue({ $0[replica] }) { return known }
        return try await index.principal(ofRow: .replica, replica.rawValue)?.principal
    }

    /// Runs a change for the principal of a replica; returns nil if there is no such replica.
    func change<T>(_ replica: ReplicaID, _ rule: (inout Account) throws -> T) async throws -> T? {
        guard let principal = try await principal(of: replica) else { return nil }
        return try await accounts.change(principal, rule)
    }

    private func remember(_ principal: Principal, of replica: ReplicaID) {
        principals.withLockedValue { known in
            if known.count > 100_000 { known.removeAll() }
            known[replica] = principal
        }
    }
}

extension AccountStore {
    /// Opens the state of a store; closes the store if it is the target of an unfinished copy.
    ///
    /// - Throws: ``StateError``.
    package static func open(
        _ bytes: any ByteStore & LeaseKeeping, limits: StateLimits, epoch: Int64 = 0, needsLeases: Bool = false
    ) async throws -> AccountStore {
        do {
            let rows = try await bytes.load([.row(MetaKey.cursorLead.row), .row(MetaKey.copying.row)])
            guard rows[1].isEmpty else { throw StateError.copying(path: bytes.location) }
            let setting = AccountSetting(
                limits: limits, cursorLead: rows[0].first?.number ?? 0, epoch: epoch, numbers: TimedNumbers())
            return AccountStore(bytes, setting: setting, needsLeases: needsLeases)
        } catch {
            await bytes.close()
            throw error
        }
    }

    /// The location of the state without secrets, for the operator.
    package var location: String { store.location }

    /// Accepts a clock that is behind the state: from the next opening on, cursors are ahead of it by the returned
    /// lead.
    ///
    /// The lead is kept for ever, so cursors remain times, only of another clock. If cursors were counted on from the
    /// newest one instead, a backup of the state that is restored later would hand out the same numbers again.
    ///
    /// - Parameter now: The clock.
    /// - Returns: The lead.
    /// - Throws: ``StateError``.
    package func acceptClock(at now: Instant) async throws -> Int64 {
        let newest = try await newestCursor()?.time ?? 0
        let known = try await store.load([.row(MetaKey.cursorLead.row)])[0].first?.number ?? 0
        let lead = max(known, newest.milliseconds(since: now) + 1)
        var changes = RowChanges()
        changes.floors[MetaKey.cursorLead.row] = lead
        try await accounts.commit(changes)
        try await index.forEachPrincipal(behind: nil) { principal in
            try await accounts.change(principal) { try ReplicaRules.acceptClock(at: now, in: &$0) }
        }
        return lead
    }

    /// Returns the mark of the identity key under which the state was written; nil if none was set yet.
    ///
    /// - Throws: ``StateError``.
    package func keyMark() async throws -> Int64? {
        try await store.load([.row(MetaKey.identityKey.row)])[0].first?.number
    }

    /// Sets the mark of the identity key; one that is there stays unless it is replaced.
    ///
    /// - Throws: ``StateError``.
    package func setKeyMark(_ mark: Int64, replaces: Bool) async throws {
        let known = try await keyMark()
        guard replaces || known == nil else { return }
        var changes = RowChanges()
        changes.rows[MetaKey.identityKey.row] = ByteRow(key: MetaKey.identityKey.row, number: mark)
        try await accounts.commit(changes)
    }
}

extension AccountStore: StateStore {
    package func pullContext(
        principal: Principal, session: Session, presented: Cursor?
    ) async throws -> StoredPullContext {
        try Task.checkCancellation()
        return try await context(of: principal, session, at: presented)
    }

    private func context(
        of principal: Principal, _ session: Session, at presented: Cursor?, pushing records: [PushedRecordKey] = [],
        loading load: (([Lookup]) async throws -> [[ByteRow]])? = nil
    ) async throws -> StoredPullContext {
        let (context, found) = try await accounts.look(principal, loading: load) { account in
            let context = try ContextRule.context(
                of: &account, session: session, presented: presented, pushing: records)
            let layers = try presented.flatMap { cursor in
                try context.ledger.map { try account.replica($0.replica, at: cursor)?.layers ?? [] }
            }
            return (context, layers ?? [])
        }
        layers.keep(found)
        if let row = context.row { remember(principal, of: row.replica) }
        return context
    }

    package func confirm(principal: Principal, cursor: Cursor, at now: Instant) async throws {
        _ = try await accounts.change(principal) { try ReplicaRules.confirm(cursor, at: now, in: &$0) }
    }

    package func setPosition(
        _ position: Position, principal: Principal, session: Session, at now: Instant
    ) async throws {
        try await setPosition(position, principal: principal, session: session, confirming: nil, at: now)
    }

    package func setPosition(
        _ position: Position, principal: Principal, session: Session, confirming cursor: Cursor?, at now: Instant
    ) async throws {
        try await accounts.change(principal) { account in
            let replica = try cursor.map { try ReplicaRules.confirm($0, at: now, in: &account) }
            try SessionRules.setPosition(position, of: session, syncing: replica, at: now, in: &account)
        }
    }

    package func raiseGeneration(principal: Principal, session: Session, at now: Instant) async throws -> Int {
        try await accounts.change(principal) { try SessionRules.raiseGeneration(of: session, at: now, in: &$0) }
    }

    @discardableResult
    package func commit(_ pull: PullCommit) async throws -> FirstSyncs.Row? {
        let firstSyncs = try await accounts.change(pull.row.principal) { try CommitRule.commit(pull, in: &$0) }
        remember(pull.row.principal, of: pull.row.replica)
        return firstSyncs
    }

    package func touch(replica: ReplicaID, result: String, at now: Instant) async throws {
        _ = try await change(replica) { try ReplicaRules.touch(replica, result: result, at: now, in: &$0) }
    }

    package func markAccepted(principal: Principal, session: Session, at now: Instant) async throws {
        try await accounts.change(principal) { try SessionRules.markAccepted(session, at: now, in: &$0) }
    }

    package func receipt(principal: Principal, digest: String, at now: Instant) async throws -> Receipt? {
        try await accounts.read(principal) { try ReceiptRules.receipt(digest, at: now, of: &$0) }
    }

    package func saveReceipt(
        _ receipt: Receipt, with notes: [PushNote], principal: Principal, digest: String, at now: Instant,
        expiresAt: Instant
    ) async throws {
        let kept = JournalEnd.KeptReceipt(receipt: receipt, digest: digest, expiresAt: expiresAt)
        try await accounts.change(principal) { account in
            try NoteRules.write(notes, at: now, in: &account)
            try ReceiptRules.save(kept, at: now, in: &account)
        }
    }

    package func dropReceipts(principal: Principal) async throws {
        try await accounts.change(principal) { try ReceiptRules.drop(in: &$0) }
    }

    package func notePushed(version: Int, replica: ReplicaID?, principal: Principal) async throws -> Bool {
        try await accounts.change(principal) { try ReplicaRules.notePushed(version, by: replica, in: &$0) }
    }

    package func collect(_ retention: Retention) async throws -> Collected {
        try await collector.collect(retention)
    }

    package func check(thoroughly: Bool) async throws { try await store.check(thoroughly: thoroughly) }

    package func checkWriting(within limit: Duration) async throws { try await store.checkWriting(within: limit) }

    package func storeDeferred() async throws { try await accounts.storeDeferred() }

    package func close() async {
        // What cannot be stored any more comes again with the next syncs.
        try? await accounts.storeDeferred()
        await store.close()
    }
}

extension AccountStore: LeaseStore {
    package func pullContext(
        principal: Principal, session: Session, presented: Cursor?, taking request: LeaseRequest
    ) async throws -> (context: StoredPullContext, lease: LeaseAnswer) {
        _ = try (key(principal.rawValue, "principal"), key(request.holder, "lease's holder"))
        guard needsLeases else {
            let lease = Lease(principal: principal, holder: request.holder, fence: 0)
            let context = try await pullContext(principal: principal, session: session, presented: presented)
            return (context, .taken(lease, from: nil, distrust: 0))
        }
        var taken: LeaseAnswer?
        let context = try await context(
            of: principal, session, at: presented, pushing: request.records
        ) { lookups in
            let (answer, rows) = try await self.store.take(request, of: principal, loading: lookups)
            taken = answer
            return rows
        }
        guard let taken else { throw StateError.failed("a context was read without a lease") }
        guard case .taken(let lease, .some, _) = taken else { return (context, taken) }
        try await RunningLease.$current.withValue(RunningLease(lease)) {
            try await accounts.change(principal) { SessionRules.forgetPositions(in: &$0) }
        }
        return (try await pullContext(principal: principal, session: session, presented: presented), taken)
    }

    package func renew(_ lease: Lease, for milliseconds: Int64, at now: Instant) async throws {
        guard needsLeases else { return }
        try await store.renew(lease, for: milliseconds, at: now)
    }

    package func giveBack(_ lease: Lease) async throws {
        guard needsLeases else { return }
        try await store.giveBack(lease)
    }
}
