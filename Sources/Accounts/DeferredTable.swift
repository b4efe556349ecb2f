// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Keeps the changes that are to be stored later.
final class DeferredTable: Sendable {
    typealias Changes = [ReplicaID: [DeferredChange]]

    private static let maximum = 50_000
    /// The number of milliseconds for which contacts wait: a device that asks each minute is in contact each minute.
    static let contactDelay: Int64 = 600_000
    /// The number of milliseconds between two searches for contacts that have waited.
    private static let searchInterval: Int64 = 60_000

    private struct State {
        var waiting: [Int64: (principal: Principal, changes: Changes, since: Instant)] = [:]
        /// The principals that have more than contacts.
        var news: Set<Int64> = []
        var searchedAt: Instant = .earliest
    }

    private let state = NIOLockedValueBox(State())

    /// Returns the changes of a principal, and whether there is room for more.
    func changes(of owner: Int64) -> (changes: Changes, hasRoom: Bool) {
        state.withLockedValue { state in
            guard let known = state.waiting[owner] else { return ([:], state.waiting.count < Self.maximum) }
            return (known.changes, true)
        }
    }

    /// Returns the principals whose news is not stored yet, with their replicas.
    func news() -> [(principal: Principal, replicas: Set<ReplicaID>)] {
        state.withLockedValue { state in
            state.news.compactMap { state.waiting[$0] }.map { ($0.principal, Set($0.changes.keys)) }
        }
    }

    /// Returns the principals whose changes are to be stored now, with their replicas; without a time, all.
    ///
    /// News is always due, contacts are once they have waited, and everything is if the table is half full.
    func due(at now: Instant?) -> [(principal: Principal, replicas: Set<ReplicaID>)] {
        state.withLockedValue { state in
            let waiting = state.waiting
            func all(of entries: some Sequence<(principal: Principal, changes: Changes, since: Instant)>)
                -> [(principal: Principal, replicas: Set<ReplicaID>)]
            { entries.map { ($0.principal, Set($0.changes.keys)) } }
            guard let now, waiting.count <= Self.maximum / 2 else { return all(of: waiting.values) }
            // A clock that was set back must not stop the search.
            let sinceSearch = state.searchedAt == .earliest ? .max : now.milliseconds(since: state.searchedAt)
            guard sinceSearch < 0 || sinceSearch >= Self.searchInterval else {
                return all(of: state.news.compactMap { waiting[$0] })
            }
            state.searchedAt = now
            return all(
                of: waiting.filter { owner, entry in
                    let waited = now.milliseconds(since: entry.since)
                    return waited < 0 || waited >= Self.contactDelay || state.news.contains(owner)
                }.values)
        }
    }

    func drop(_ principal: Principal) {
        state.withLockedValue { state in
            state.waiting[principal.owner] = nil
            state.news.remove(principal.owner)
        }
    }

    /// Keeps further changes, and forgets those that are stored: of these replicas, all that were known to the rule.
    func keep(_ further: Changes, without stored: Set<ReplicaID>, of known: Changes, for principal: Principal) {
        guard !further.isEmpty || !known.isEmpty else { return }
        let owner = principal.owner
        state.withLockedValue { state in
            let before = state.waiting[owner]
            var changes = before?.changes ?? [:]
            for id in stored {
                let rest = changes[id]?.filter { !(known[id] ?? []).contains($0) }
                changes[id] = rest?.isEmpty == false ? rest : nil
            }
            changes.merge(further) { old, new in
                // A contact says all that earlier ones say.
                old.filter { $0.isNews && !new.contains($0) } + new
            }
            let isNews = changes.values.contains { $0.contains(where: \.isNews) }
            if isNews { state.news.insert(owner) } else { state.news.remove(owner) }
            let oldest = changes.values.joined().map(\.time).min()
            state.waiting[owner] = oldest.map { (principal, changes, min(before?.since ?? $0, $0)) }
        }
    }
}
