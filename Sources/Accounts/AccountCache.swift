// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Keeps what was read of principals: decoded heads, and single rows.
///
/// What is kept is as new as the newest change that this process has made. Changes of others have to be seen by whoever
/// uses it: those of other processes as ``ByteStore/foreignChanges()``, those of other gateways when a commit is
/// refused.
final class AccountCache: Sendable {
    /// Marks the beginning of a read: what it brings is not kept if a change has come since.
    struct Moment: Equatable, Sendable {
        fileprivate var changes: UInt64
        fileprivate var generation: UInt64
    }

    private struct State {
        var views: TwoGenerations<Int64, AccountView>
        /// The number of changes by the last bits of their owner.
        var changes = [UInt64](repeating: 0, count: 16_384)
        var generation: UInt64 = 0
        var foreign: Int64?

        mutating func drop(_ owner: Int64) {
            changes[slot(owner)] += 1
            views.drop(owner)
        }

        mutating func dropAll() {
            views.dropAll()
            generation += 1
        }

        func moment(_ owner: Int64) -> Moment { Moment(changes: changes[slot(owner)], generation: generation) }

        private func slot(_ owner: Int64) -> Int { Int(truncatingIfNeeded: owner & 16_383) }
    }

    private let state: NIOLockedValueBox<State>

    init(limit: Int) { state = NIOLockedValueBox(State(views: TwoGenerations(limit: limit))) }

    /// Returns what is known of a principal, if nothing was changed by others since the given count of their changes,
    /// and the moment from which on a change would make it old.
    func view(of owner: Int64, foreign: Int64?) -> (view: AccountView?, moment: Moment) {
        state.withLockedValue { state in
            if state.foreign != foreign {
                state.foreign = foreign
                state.dropAll()
            }
            return (state.views.use(owner), state.moment(owner))
        }
    }

    /// Keeps what was read or made, in place of what was known; forgets both if something has changed since the moment.
    ///
    /// The view is to have only what stays true (``AccountView/kept(of:)``).
    func keep(_ view: AccountView, of owner: Int64, since moment: Moment) {
        let weight = view.weight
        state.withLockedValue { state in
            let now = state.moment(owner)
            state.drop(owner)
            if now == moment { state.views.keep(view, weight: weight, at: owner) }
        }
    }

    func drop(_ owner: Int64) { state.withLockedValue { $0.drop(owner) } }

    func dropAll() { state.withLockedValue { $0.dropAll() } }
}
