// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Tells the task that serves a request that its client has gone.
///
/// What must not be interrupted, such as a push, shields itself; whoever comes first, the client's end or the shield,
/// wins.
final class HangUp: Sendable {
    private struct State {
        var isSignalled = false
        var isShielded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = NIOLockedValueBox(State())

    /// Whether the client has gone.
    var isSignalled: Bool { state.withLockedValue { $0.isSignalled } }

    /// The client has gone; called once or several times, from any thread.
    func signal() {
        let waiter = state.withLockedValue { state in
            state.isSignalled = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// From now on the request goes on without its client.
    ///
    /// - Throws: ``ClientGone`` where the client went first: nothing may be begun then.
    func shield() throws {
        let isTooLate = state.withLockedValue { state in
            state.isShielded = true
            return state.isSignalled
        }
        if isTooLate { throw ClientGone() }
    }

    /// The next request of the connection begins without a shield.
    func reset() { state.withLockedValue { $0.isShielded = false } }

    /// Waits until the client goes or the task is cancelled; one task at a time.
    ///
    /// - Returns: Whether the client went and the request is not shielded.
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

/// The client has closed its connection, or cut its request short; nobody hears an answer.
struct ClientGone: Error {}

/// The client sends nothing, or too slowly.
struct ClientTimeout: Error {}

/// The client took its answer too slowly, and was cut.
struct ClientTooSlow: Error {}
