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
    let merges = NIOLockedValueBox<[ReplicaID: LedgerMerge]>([:])
    private let principals = NIOLockedValueBox<[ReplicaID: Principal]>([:])

    /// Creates the state of a store.
    package init(
        _ store: any ByteStore & LeaseKeeping, setting: Account.Setting, versions: VersionSource = VersionSource(),
        needsLeases: Bool = false
    ) {
        self.store = store
        self.needsLeases = needsLeases
        accounts = Accounts(store, setting: setting, versions: versions)
    }

    /// The limits on what is kept and how often it is written.
    package var limits: StateLimits { accounts.setting.limits }
    /// The lead of cursors over the clock in milliseconds.
    package var cursorLead: Int64 { accounts.setting.cursorLead }

    /// Returns the principal of a replica; nil if there is no such replica.
    func principal(of replica: ReplicaID) async throws -> Principal? {
        if let known = principals.withLockedValue({ $0[replica] }) { return known }
        return try await principal(ofRow: .replica, replica.rawValue)?.principal
    }

    /// Returns the principal whose row of a kind has a number, and the row.
    func principal(ofRow kind: RowKind, _ number: Int64) async throws -> (principal: Principal, row: ByteRow)? {
        guard let row = try await store.load([.named(kind, number)])[0].first else { return nil }
        return try await principals(of: [row.key.owner])[row.key.owner].map { ($0, row) }
    }

    /// Returns the principals of owners.
    func principals(of owners: Set<Int64>) async throws -> [Int64: Principal] {
        let rows = try await store.load(owners.map { .row(RowKey(.principal, of: $0)) }).joined()
        return try rows.reduce(into: [:]) { $0[$1.key.owner] = try PrincipalHead(decoding: $1.bytes).principal }
    }

    /// Returns a principal and its scopes; nil for all principals.
    func principals(behind principal: Principal?) async throws -> [Principal]? {
        guard let principal else { return nil }
        let scopes = try await store.load([.all(.scope, of: principal.owner)])[0]
        let owners = Set(scopes.map { Int64(keyBytes: $0.key.key) } + [principal.owner])
        return try await principals(of: owners).values.filter { $0.belongs(to: principal) }
            .sorted { $0.rawValue < $1.rawValue }
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

extension AccountStore: StateStore {
    package func pullContext(
        principal: Principal, session: Session, presented: Cursor?
    ) async throws -> StoredPullContext {
        let (context, found) = try await accounts.read(principal) { account in
            let context = try ContextRule.context(of: &account, session: session, presented: presented)
            let layers = try context.ledger.map { try account.replica($0.replica)?.layers ?? [] }
            return (context, layers ?? [])
        }
        layers.keep(found)
        if let row = context.row { remember(principal, of: row.replica) }
        return context
    }

    package func confirm(principal: Principal, cursor: Cursor, at now: Instant) async throws {
        try await accounts.change(principal) { try ReplicaRules.confirm(cursor, at: now, in: &$0) }
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
            if let cursor { try ReplicaRules.confirm(cursor, at: now, in: &account) }
            try SessionRules.setPosition(position, of: session, at: now, in: &account)
        }
    }

    package func raiseGeneration(principal: Principal, session: Session, at now: Instant) async throws -> Int {
        try await accounts.change(principal) { try SessionRules.raiseGeneration(of: session, at: now, in: &$0) }
    }

    package func commit(_ pull: PullCommit) async throws {
        try await accounts.change(pull.row.principal) { try CommitRule.commit(pull, in: &$0) }
        remember(pull.row.principal, of: pull.row.replica)
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
        _ receipt: Receipt, principal: Principal, digest: String, at now: Instant, expiresAt: Instant
    ) async throws {
        let kept = JournalEnd.KeptReceipt(receipt: receipt, digest: digest, expiresAt: expiresAt)
        try await accounts.change(principal) { try ReceiptRules.save(kept, at: now, in: &$0) }
    }

    package func dropReceipts(principal: Principal) async throws {
        try await accounts.change(principal) { try ReceiptRules.drop(in: &$0) }
    }

    package func notePushed(version: Int, replica: ReplicaID?, principal: Principal) async throws -> Bool {
        try await accounts.change(principal) { try ReplicaRules.notePushed(version, by: replica, in: &$0) }
    }

    package func check(thoroughly: Bool) async throws { try await store.check(thoroughly: thoroughly) }

    package func checkWriting(within limit: Duration) async throws { try await store.checkWriting(within: limit) }

    package func close() async { await store.close() }
}

extension AccountStore: LeaseStore {
    package func pullContext(
        principal: Principal, session: Session, presented: Cursor?, taking request: LeaseRequest
    ) async throws -> (context: StoredPullContext, lease: LeaseAnswer) {
        _ = try (key(principal.rawValue, "principal"), key(request.holder, "lease's holder"))
        let answer =
            needsLeases
            ? try await store.take(request, of: principal)
            : .taken(Lease(principal: principal, holder: request.holder, fence: 0), from: nil, distrust: 0)
        if case .taken(let lease, .some, _) = answer {
            try await RunningLease.$current.withValue(RunningLease(lease)) {
                try await accounts.change(principal) { account in
                    try account.withKnownHead { $0.forgetPositions(except: nil) }
                }
            }
        }
        return (try await pullContext(principal: principal, session: session, presented: presented), answer)
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
