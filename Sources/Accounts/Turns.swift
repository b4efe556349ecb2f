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

    /// Runs a body that makes changes of an owner when it is its turn.
    ///
    /// If it throws, all that wait go on at once: what fails slowly, as a database that is away does, must not fail them
    /// one after the other.
    func inTurn<R>(_ owner: Int64, _ body: () async throws -> R) async throws -> R {
        await take(owner)
        do {
            let result = try await body()
            pass(owner)
            return result
        } catch {
            for turn in waiting.withLockedValue({ $0.removeValue(forKey: owner) ?? [] }) { turn.resume() }
            throw error
        }
    }

    private func take(_ owner: Int64) async {
        await withCheckedContinuation { turn in
            let isFree = waiting.withLockedValue { waiting in
                let isFree = waiting[owner] == nil
                if isFree { waiting[owner] = [] } else { waiting[owner]?.append(turn) }
                return isFree
            }
            if isFree { turn.resume() }
        }
    }

    /// Gives the turn to the one that has waited longest.
    private func pass(_ owner: Int64) {
        waiting.withLockedValue { waiting in
            let next = waiting[owner]?.popFirst()
            if next == nil { waiting[owner] = nil }
            return next
        }?.resume()
    }
}
