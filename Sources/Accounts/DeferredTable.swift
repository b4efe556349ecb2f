// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Keeps the changes that are to be stored later.
final class DeferredTable: Sendable {
    typealias Changes = [ReplicaID: [DeferredChange]]

    /// The most principals that changes are kept for.
    private static let maximum = 10_000

    private let waiting = NIOLockedValueBox<[Int64: (principal: Principal, changes: Changes)]>([:])

    /// Returns the changes of a principal, and whether there is room for more.
    func changes(of owner: Int64) -> (changes: Changes, hasRoom: Bool) {
        waiting.withLockedValue { waiting in
            guard let known = waiting[owner] else { return ([:], waiting.count < Self.maximum) }
            return (known.changes, true)
        }
    }

    /// The principals with their replicas that have changes.
    var all: [(principal: Principal, replicas: Set<ReplicaID>)] {
        waiting.withLockedValue { $0.values.map { ($0.principal, Set($0.changes.keys)) } }
    }

    /// Forgets the changes of a principal.
    func drop(_ principal: Principal) { waiting.withLockedValue { $0[principal.owner] = nil } }

    /// Keeps further changes, and forgets those that are stored: of these replicas, all that were known to the rule.
    func keep(_ further: Changes, without stored: Set<ReplicaID>, of known: Changes, for principal: Principal) {
        guard !further.isEmpty || !known.isEmpty else { return }
        waiting.withLockedValue { waiting in
            var changes = waiting[principal.owner]?.changes ?? [:]
            for id in stored {
                let rest = changes[id]?.filter { !(known[id] ?? []).contains($0) }
                changes[id] = rest?.isEmpty == false ? rest : nil
            }
            changes.merge(further) { old, new in
                // A contact says all that earlier ones say.
                old.filter { if case .contact = $0 { false } else { !new.contains($0) } } + new
            }
            waiting[principal.owner] = changes.isEmpty ? nil : (principal, changes)
        }
    }
}
