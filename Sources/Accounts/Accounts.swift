// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HashTreeCollections
import NIOConcurrencyHelpers
package import StateStore
package import SyncModel

/// Keeps the gateway's durable memory, how far each device has got, by running rules over a store of bytes.
///
/// What a caller reads or changes of a principal is a rule of the module `StateStore`: ``read(_:_:)`` and
/// ``change(_:keeps:_:)`` run it on the newest value. The order of the changes of a pull and a push is listed in
/// `docs/ARCHITECTURE.md`, State. A change is one transaction and durable when it returns, unless its rule says
/// otherwise; if it throws ``StateError``, nothing has changed. Moments are from the caller's clock.
///
/// Nobody holds an account across a wait: a rule gets the newest value, and its changes are committed if nothing that
/// it has read was changed meanwhile. If something was, the rule runs again. So callers see the outcomes of rules only.
package final class Accounts: Sendable {
    /// The number of times that a rule runs because others were faster.
    private static let maximumAttempts = 100
    /// The number of times that a rule asks for rows, unless it asks for the same ones again and again.
    private static let maximumLoads = 10_000

    /// The store.
    package let store: any ByteStore
    /// Keeps the leases; nil if one gateway alone uses the state.
    let leases: (any LeaseKeeping)?
    var index: PrincipalIndex { PrincipalIndex(store: store) }
    /// A number that no other process has.
    let process = Int64.random(in: 1...Int64.max)
    /// The values that hold for all principals.
    package let setting: AccountSetting
    private let queue: CommitQueue
    private let turns = Turns()
    private let cache: AccountCache
    let chunks: ChunkCache
    let versions: VersionSource
    let deferred = DeferredTable()

    /// Creates the accounts of a store; with `leases` if other gateways may use it at the same time.
    package init(
        _ store: any ByteStore, setting: AccountSetting, versions: VersionSource = VersionSource(),
        leases: (any LeaseKeeping)? = nil
    ) {
        self.store = store
        self.leases = leases
        self.setting = setting
        self.versions = versions
        queue = CommitQueue(store)
        cache = AccountCache(limit: setting.limits.keptBytes)
        chunks = ChunkCache(store, limit: setting.limits.keptChunkBytes)
    }

    /// Lists what is in the state.
    package var inspection: Inspection { Inspection(accounts: self) }
    /// Changes the state as operators ask for it.
    package var commands: OperatorCommands { OperatorCommands(accounts: self) }

    /// Runs a rule that changes nothing.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, ``StateError``, or what the rule throws.
    package func read<T>(_ principal: Principal, _ rule: (inout Account) throws -> T) async throws -> T {
        try Task.checkCancellation()
        return try await look(principal, rule)
    }

    /// Runs a rule that changes nothing, even if the task is cancelled: it decides whether something is written.
    ///
    /// `load` reads the first rows that the rule asks for; without it the store does, unless they are kept in memory.
    package func look<T>(
        _ principal: Principal, loading load: (([Lookup]) async throws -> [[ByteRow]])? = nil,
        _ rule: (inout Account) throws -> T
    ) async throws -> T {
        let owner = principal.owner
        let deferred = deferred.changes(of: owner)
        let foreign = try await store.foreignChanges()
        let (known, moment) = cache.view(of: owner, foreign: foreign)
        // Where other gateways write, what is kept is as new as the lease, with which it was read.
        let isCurrent = load == nil && (foreign != nil || Lease.current != nil)
        var (view, loads) = (isCurrent ? known ?? AccountView() : AccountView(), 0)
        let outcome = try await run(
            rule, of: principal, with: deferred, from: &view, loads: &loads, loading: load
        ).outcome
        // What was kept is no news to a read, but true if its heads are the same by now.
        if load == nil, !isCurrent, let known { view.complete(with: known) }
        if loads > 0 { cache.keep(view.kept(of: owner), of: owner, since: moment) }
        return try outcome.get()
    }

    /// Runs a rule and commits its changes, even if the task is cancelled: what a backend has accepted must be noted.
    ///
    /// The rule may run several times; only what its last run has returned or thrown counts.
    /// With `keeps` false, for whoever goes through all principals, nothing is kept in memory that was not.
    @discardableResult
    package func change<T>(
        _ principal: Principal, keeps: Bool = true, _ rule: (inout Account) throws -> T
    ) async throws -> T {
        if let end = try await attempt(principal, keeps: keeps, rule) { return try end.get() }
        return try await turns.inTurn(principal.owner) {
            for _ in Turns.freeAttempts..<Self.maximumAttempts {
                if let end = try await change(principal, keeps: keeps, assumesFree: false, rule) { return end }
            }
            throw StateError.busy
        }.get()
    }

    /// Runs a rule and commits its changes; returns its outcome, nil if others were faster each time.
    func attempt<T>(
        _ principal: Principal, keeps: Bool = true, _ rule: (inout Account) throws -> T
    ) async throws -> Result<T, any Error>? {
        for attempt in 0..<Turns.freeAttempts {
            if let end = try await change(principal, keeps: keeps, assumesFree: attempt == 0, rule) { return end }
        }
        return nil
    }

    /// Runs a rule once and commits its changes; returns its outcome, nil if others were faster.
    private func change<T>(
        _ principal: Principal, keeps: Bool, assumesFree: Bool, _ rule: (inout Account) throws -> T
    ) async throws -> Result<T, any Error>? {
        let owner = principal.owner
        let deferred = deferred.changes(of: owner)
        let foreign = try await store.foreignChanges()
        let (known, moment) = cache.view(of: owner, foreign: foreign)
        var (view, loads) = (known ?? AccountView(), 0)
        var (outcome, account) = try await run(
            rule, of: principal, with: deferred, from: &view, loads: &loads, assumesFree: assumesFree)
        if case .failure = outcome, known != nil, foreign == nil {
            // Another gateway may have changed what was kept.
            cache.drop(owner)
            return nil
        }
        guard case .success = outcome else { return outcome }
        var finished = try account.finish(version: versions.next)
        finished.changes.lease = Lease.current
        guard !finished.changes.isEmpty else {
            if loads > 0, keeps { cache.keep(view.kept(of: owner), of: owner, since: moment) }
            note(finished, of: principal, beside: deferred.changes)
            return outcome
        }
        switch try await commit(finished.changes, of: owner, leaving: keeps ? finished.view : nil, since: moment) {
        case .made:
            note(finished, of: principal, beside: deferred.changes)
            chunks.take(finished.changes)
            return outcome
        case .leaseLost: throw StateError.leaseLost
        case .refused: return nil
        }
    }

    private func note(_ finished: FinishedAccount, of principal: Principal, beside known: DeferredTable.Changes) {
        deferred.keep(finished.deferred, without: finished.stored, of: known, for: principal)
    }

    /// Returns a replica with what was deferred of it.
    func withDeferred(_ replica: ReplicaHead, of owner: Int64) -> ReplicaHead {
        replica.applying(deferred.changes(of: owner).changes[replica.id] ?? [])
    }

    /// Stores what was deferred and is due, in transactions that do not wait for the disk; throws the last error.
    ///
    /// That cursors came back is due at once, and contacts are after ten minutes; without a time, everything is.
    /// An error of one principal does not stop the others; one of the whole store does.
    package func storeDeferred(at now: Instant? = nil) async throws {
        try await DeferredStorer(accounts: self).store(deferred.due(at: now))
    }

    /// Stores that cursors came back; the last contacts of tens of thousands of devices would hold up the end.
    func storeNews() async throws { try await DeferredStorer(accounts: self).store(deferred.news()) }

    private func commit(
        _ changes: RowChanges, of owner: Int64, leaving view: AccountView? = nil,
        since moment: AccountCache.Moment? = nil
    ) async throws -> CommitOutcome {
        do {
            return try await queue.commit(changes) { [cache] outcome in
                guard let view, let moment, outcome == .made else { return cache.drop(owner) }
                cache.keep(view, of: owner, since: moment)
            }
        } catch {
            // Whether it was made is unknown.
            cache.drop(owner)
            throw error
        }
    }

    /// Runs a rule until nothing is missing; returns what it returns or throws, and throws what the store throws.
    ///
    /// What is deferred was read before the view: if it was stored since, it is made on the stored head again, and does
    /// nothing there. The other way round, the rule would miss it.
    private func run<T>(
        _ rule: (inout Account) throws -> T, of principal: Principal,
        with deferred: (changes: DeferredTable.Changes, hasRoom: Bool), from view: inout AccountView,
        loads: inout Int, assumesFree: Bool = false, loading first: (([Lookup]) async throws -> [[ByteRow]])? = nil
    ) async throws -> (outcome: Result<T, any Error>, account: Account) {
        var setting = setting
        (setting.assumesFree, setting.canDefer) = (assumesFree, deferred.hasRoom)
        while loads < Self.maximumLoads {
            let changes = deferred.changes
            var account = try Account(
                principal, setting: setting, view: view, deferred: changes.isEmpty ? nil : { changes[$0] })
            do {
                return (.success(try rule(&account)), account)
            } catch let missing as Missing {
                let load = loads == 0 ? first : nil
                try await view.load(missing, of: account.owner, from: store, chunks, with: load ?? store.load)
                loads += 1
            } catch {
                return (.failure(error), account)
            }
        }
        throw StateError.failed("a rule does not end asking for rows")
    }

    /// Stores a finished pull, before the first byte of its answer, by ``CommitRule``.
    @discardableResult
    package func commit(_ pull: PullCommit) async throws -> CommitRule.Outcome {
        try await change(pull.row.principal) { try CommitRule.commit(pull, in: &$0) }
    }

    /// Commits changes that belong to no principal.
    package func commit(_ changes: RowChanges) async throws {
        guard try await isMade(changes) else { throw StateError.busy }
    }

    /// Commits changes that belong to no principal; returns false if something else was there than they expected.
    func isMade(_ changes: RowChanges) async throws -> Bool {
        try await commit(changes, of: 0) == .made
    }

    /// Forgets what is kept of all principals, after a change of what holds for all of them.
    func forgetAll() { cache.dropAll() }
}
