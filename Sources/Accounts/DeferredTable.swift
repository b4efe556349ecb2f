// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HashTreeCollections
import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Keeps the changes that are to be stored later.
final class DeferredTable: Sendable {
    /// The changes of replicas; a copy costs nothing, and the original can be changed at once, however many there are.
    typealias Changes = TreeDictionary<ReplicaID, [DeferredChange]>

    /// The most replicas whose changes wait.
    private static let maximum = 50_000
    /// The number of milliseconds for which contacts wait: a device that asks each minute is in contact each minute.
    static let contactDelay: Int64 = 600_000
    /// The number of milliseconds between two searches for contacts that have waited.
    private static let searchInterval: Int64 = 60_000

    /// Some replicas of a principal: as many as one change stores.
    ///
    /// One that compared the heads of all devices of a login would be refused by each pull of one of them.
    typealias Part = (principal: Principal, replicas: [ReplicaID])

    /// The changes of a principal's replicas.
    private struct Waiting {
        let principal: Principal
        var changes = Changes()
        /// The time of the first change that waits, by replica.
        var since: [ReplicaID: Instant] = [:]
        /// The replicas that have more than contacts.
        var news: Set<ReplicaID> = []

        func parts(of replicas: some Collection<ReplicaID>) -> [Part] {
            let (all, size) = (Array(replicas), OperatorCommands.replicasAtOnce)
            return stride(from: 0, to: all.count, by: size).map { (principal, Array(all[$0...].prefix(size))) }
        }

        /// Sets what waits of a replica, which may be nothing.
        mutating func set(_ changes: [DeferredChange], of id: ReplicaID) {
            let first = changes.map(\.time).min()
            self.changes[id] = first == nil ? nil : changes
            since[id] = first.map { min(since[id] ?? $0, $0) }
            if changes.contains(where: \.isNews) { news.insert(id) } else { news.remove(id) }
        }
    }

    private struct State {
        var waiting: [Int64: Waiting] = [:]
        /// The principals that have more than contacts.
        var news: Set<Int64> = []
        /// The number of replicas.
        var count = 0
        var searchedAt: Instant = .earliest

        mutating func take(_ owner: Int64) -> Waiting? {
            let waiting = waiting.removeValue(forKey: owner)
            count -= waiting?.since.count ?? 0
            news.remove(owner)
            return waiting
        }

        mutating func put(_ waiting: Waiting, of owner: Int64) {
            guard !waiting.since.isEmpty else { return }
            self.waiting[owner] = waiting
            count += waiting.since.count
            if !waiting.news.isEmpty { news.insert(owner) }
        }
    }

    private let state = NIOLockedValueBox(State())

    /// Returns the changes of a principal, and whether there is room for more.
    func changes(of owner: Int64) -> (changes: Changes, hasRoom: Bool) {
        state.withLockedValue { ($0.waiting[owner]?.changes ?? [:], $0.count < Self.maximum) }
    }

    /// Returns the replicas whose news is not stored yet.
    func news() -> [Part] {
        state.withLockedValue { state in state.news.compactMap { state.waiting[$0] } }.flatMap { $0.parts(of: $0.news) }
    }

    /// Returns the replicas whose changes are to be stored now; without a time, all.
    ///
    /// News is always due, contacts are once they have waited, and everything is if the table is half full.
    func due(at now: Instant?) -> [Part] {
        let isSearch = state.withLockedValue { state in
            guard let now, state.count <= Self.maximum / 2 else { return true }
            // A clock that was set back must not stop the search.
            let sinceSearch = state.searchedAt == .earliest ? .max : now.milliseconds(since: state.searchedAt)
            guard sinceSearch < 0 || sinceSearch >= Self.searchInterval else { return false }
            state.searchedAt = now
            return true
        }
        guard isSearch else { return news() }
        let (waiting, count) = state.withLockedValue { ($0.waiting.values, $0.count) }
        return waiting.flatMap { waiting in
            let due = waiting.since.filter { id, since in
                guard let now, count <= Self.maximum / 2, !waiting.news.contains(id) else { return true }
                let waited = now.milliseconds(since: since)
                return waited < 0 || waited >= Self.contactDelay
            }
            return waiting.parts(of: due.keys)
        }
    }

    func drop(_ principal: Principal) { _ = state.withLockedValue { $0.take(principal.owner) } }

    /// Keeps further changes, and forgets those that are stored: of these replicas, all that were known to the rule.
    func keep(
        _ further: [ReplicaID: [DeferredChange]], without stored: Set<ReplicaID>, of known: Changes,
        for principal: Principal
    ) {
        guard !further.isEmpty || !known.isEmpty else { return }
        let owner = principal.owner
        state.withLockedValue { state in
            var waiting = state.take(owner) ?? Waiting(principal: principal)
            for id in stored {
                guard let old = waiting.changes[id] else { continue }
                let rest = old.filter { !(known[id] ?? []).contains($0) }
                waiting.since[id] = nil
                waiting.set(rest, of: id)
            }
            for (id, new) in further {
                // A contact says all that earlier ones say.
                waiting.set((waiting.changes[id] ?? []).filter { $0.isNews && !new.contains($0) } + new, of: id)
            }
            state.put(waiting, of: owner)
        }
    }
}
