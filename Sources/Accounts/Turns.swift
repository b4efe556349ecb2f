// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DequeModule
import NIOConcurrencyHelpers

/// Lets changes of one principal that were overtaken go on one after the other, first come, first served.
///
/// If hundreds of them ran again at the same time, each commit would refuse all others once more.
final class Turns: Sendable {
    /// The attempts of a change before it waits for its turn.
    ///
    /// Most that were overtaken have only compared what another one has written: they can go on together.
    static let freeAttempts = 3

    private typealias Waiting = Deque<CheckedContinuation<Void, Never>>

    /// Those that wait, by owner; an owner that is a key has its turn taken.
    private let waiting = NIOLockedValueBox<[Int64: Waiting]>([:])

    /// Waits for the owner's turn, and returns true; whoever has it calls ``pass(_:)`` in the end.
    func take(_ owner: Int64) async -> Bool {
        await withCheckedContinuation { turn in
            let isFree = waiting.withLockedValue { waiting in
                let isFree = waiting[owner] == nil
                if isFree { waiting[owner] = [] } else { waiting[owner]?.append(turn) }
                return isFree
            }
            if isFree { turn.resume() }
        }
        return true
    }

    /// Gives the turn to the one that has waited longest.
    func pass(_ owner: Int64) {
        waiting.withLockedValue { waiting in
            let next = waiting[owner]?.popFirst()
            if next == nil { waiting[owner] = nil }
            return next
        }?.resume()
    }
}
