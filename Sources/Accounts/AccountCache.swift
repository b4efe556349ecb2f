// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Keeps what was read of principals: decoded heads, and single rows.
///
/// What is kept is as new as the newest change that this process has made. Changes of others have to be seen by whoever
/// uses it: those of other processes as ``ByteStore/foreignChanges()``, those of other gateways when a commit is refused.
final class AccountCache: Sendable {
    /// A moment, after which what was read before it may be old.
    struct Moment: Equatable, Sendable {
        fileprivate var changes: UInt64
        fileprivate var generation: UInt64
    }

    private struct Kept {
        var view: AccountView
        var weight: Int
    }

    private struct State {
        /// The principals that were used since half of the room was filled, and those that were used before.
        var (young, old): ([Int64: Kept], [Int64: Kept]) = ([:], [:])
        var youngBytes = 0
        /// The number of changes by the last bits of their owner.
        var changes = [UInt64](repeating: 0, count: 16_384)
        var generation: UInt64 = 0
        var foreign: Int64?

        mutating func keep(_ kept: Kept, of owner: Int64, limit: Int) {
            youngBytes += kept.weight - (young[owner]?.weight ?? 0)
            young[owner] = kept
            old[owner] = nil
            guard youngBytes > limit / 2 else { return }
            (old, young, youngBytes) = (young, [:], 0)
        }

        mutating func drop(_ owner: Int64) {
            changes[slot(owner)] += 1
            old[owner] = nil
            if let kept = young.removeValue(forKey: owner) { youngBytes -= kept.weight }
        }

        mutating func dropAll() {
            (young, old, youngBytes) = ([:], [:], 0)
            generation += 1
        }

        func slot(_ owner: Int64) -> Int { Int(truncatingIfNeeded: owner & 16_383) }
    }

    private let limit: Int
    private let state = NIOLockedValueBox(State())

    /// Creates a cache of about so many bytes.
    init(limit: Int) { self.limit = limit }

    /// Returns what is known of a principal, if nothing was changed by others since the given count of their changes, and
    /// the moment from which on a change would make it old.
    func view(of owner: Int64, foreign: Int64?) -> (view: AccountView?, moment: Moment) {
        state.withLockedValue { state in
            if state.foreign != foreign {
                state.foreign = foreign
                state.dropAll()
            }
            let moment = Moment(changes: state.changes[state.slot(owner)], generation: state.generation)
            if let kept = state.young[owner] { return (kept.view, moment) }
            guard let kept = state.old[owner] else { return (nil, moment) }
            state.keep(kept, of: owner, limit: limit)
            return (kept.view, moment)
        }
    }

    /// Keeps what was read or made, in place of what was known; forgets both if something has changed since the moment.
    func keep(_ view: AccountView, of owner: Int64, since moment: Moment) {
        let kept = kept(view, of: owner)
        state.withLockedValue { state in
            let now = Moment(changes: state.changes[state.slot(owner)], generation: state.generation)
            state.drop(owner)
            if now == moment, let kept { state.keep(kept, of: owner, limit: limit) }
        }
    }

    /// Forgets a principal.
    func drop(_ owner: Int64) { state.withLockedValue { $0.drop(owner) } }

    /// Forgets everything.
    func dropAll() { state.withLockedValue { $0.dropAll() } }

    private func kept(_ view: AccountView, of owner: Int64) -> Kept? {
        let view = view.kept(of: owner)
        guard view.weight <= limit / 16 else { return nil }
        return Kept(view: view, weight: view.weight)
    }
}
