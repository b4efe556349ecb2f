// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
package import StateStore
package import SyncModel

/// Runs the rules of the state over a store of bytes.
///
/// Nobody holds an account across a wait: a rule gets the newest value, and its changes are committed if nothing that it
/// has read was changed meanwhile. If something was, the rule runs again. So callers see the outcomes of rules only.
package final class Accounts: Sendable {
    /// The number of times that a rule runs again because another gateway was faster.
    private static let maximumAttempts = 100

    /// The store.
    package let store: any ByteStore
    /// The values that hold for all principals.
    package let setting: Account.Setting
    private let queue: CommitQueue
    private let versions: VersionSource

    /// Creates the accounts of a store.
    package init(_ store: any ByteStore, setting: Account.Setting, versions: VersionSource = VersionSource()) {
        self.store = store
        self.setting = setting
        self.versions = versions
        queue = CommitQueue(store)
    }

    /// Runs a rule that changes nothing.
    package func read<T>(
        _ principal: Principal, _ rule: (inout Account) throws -> T
    ) async throws -> T {
        try Task.checkCancellation()
        return try await look(principal, rule)
    }

    /// Runs a rule that changes nothing, even if the task is cancelled: it decides whether something is written.
    package func look<T>(
        _ principal: Principal, _ rule: (inout Account) throws -> T
    ) async throws -> T {
        var view = AccountView()
        return try await run(rule, of: principal, from: &view).result
    }

    /// Runs a rule and commits its changes, even if the task is cancelled.
    package func change<T>(
        _ principal: Principal, _ rule: (inout Account) throws -> T
    ) async throws -> T {
        for _ in 0..<Self.maximumAttempts {
            var view = AccountView()
            var (result, account) = try await run(rule, of: principal, from: &view)
            var changes = try account.finish(version: versions.next).changes
            let running = RunningLease.current
            changes.lease = running?.lease
            changes.givesLeaseBack = running?.isGivenBack ?? false
            guard !changes.isEmpty || changes.lease != nil else { return result }
            switch try await commit(OwnedChanges(owner: account.owner, changes: changes)) {
            case .made: return result
            case .leaseLost: throw StateError.leaseLost
            case .refused: continue
            }
        }
        throw StateError.busy
    }

    private func commit(_ changes: OwnedChanges) async throws -> CommitOutcome {
        guard store.commitsInGroups else { return try await store.commit([changes])[0] }
        return try await queue.commit(changes)
    }

    /// Runs a rule until nothing is missing.
    private func run<T>(
        _ rule: (inout Account) throws -> T, of principal: Principal, from view: inout AccountView
    ) async throws -> (result: T, account: Account) {
        while true {
            var account = try Account(principal, setting: setting, view: view)
            do {
                return (try rule(&account), account)
            } catch let missing as Missing {
                try await load(missing, of: account.owner, into: &view)
            }
        }
    }

    private func load(
        _ missing: Missing, of owner: Int64, into view: inout AccountView
    ) async throws {
        for (kind, count) in missing.numbers {
            view.numbers[kind, default: []] += try await store.reserve(kind, count: count)
        }
        guard !missing.lookups.isEmpty else { return }
        let answers = try await store.load(missing.lookups)
        for (lookup, rows) in zip(missing.lookups, answers) { try view.take(rows, of: lookup, owner: owner) }
    }

    /// Commits changes that belong to no principal.
    package func commit(_ changes: RowChanges) async throws {
        guard try await commit(OwnedChanges(owner: 0, changes: changes)) == .made else { throw StateError.busy }
    }
}
