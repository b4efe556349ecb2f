// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Tells the task that serves a request that its client has gone.
///
/// Work that must not be interrupted, such as a push, shields itself; the first of the two, the client's end or the
/// shield, wins.
final class HangUp: Sendable {
    private struct State {
        var isSignalled = false
        var isShielded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = NIOLockedValueBox(State())

    /// True if the client has gone.
    var isSignalled: Bool { state.withLockedValue { $0.isSignalled } }

    /// Signals that the client has gone; may be called more than once, from any thread.
    func signal() {
        let waiter = state.withLockedValue { state in
            state.isSignalled = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Shields the request: from now on it continues without its client.
    ///
    /// - Throws: ``ClientGone`` if the client went first: the work must not begin then.
    func shield() throws {
        let isTooLate = state.withLockedValue { state in
            state.isShielded = true
            return state.isSignalled
        }
        if isTooLate { throw ClientGone() }
    }

    /// Removes the shield for the next request of the connection.
    func reset() { state.withLockedValue { $0.isShielded = false } }

    /// Waits until the client goes or the task is cancelled; one task at a time.
    ///
    /// - Returns: True if the client went and the request is not shielded.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLockedValue { state in
                    if state.isSignalled || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLockedValue { $0.waiter.take() }
            waiter?.resume()
        }
        return state.withLockedValue { $0.isSignalled && !$0.isShielded }
    }
}

/// The client has closed its connection, or cut its request short; an answer would not reach it.
struct ClientGone: Error {}

/// The client sends nothing, or too slowly.
struct ClientTimeout: Error {}

/// The client took its answer too slowly, and was cut.
struct ClientTooSlow: Error {}
