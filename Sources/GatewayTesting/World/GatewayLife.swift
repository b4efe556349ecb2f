// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Tells whether a gateway of a world still runs.
///
/// One that has died does nothing any more: each of its ports throws before it does anything, so that its tasks unwind
/// without effect, as if the process were gone. One that is paused stops in its ports, and goes on from there.
package final class GatewayLife: Sendable {
    /// The gateway is gone.
    struct Death: Error {}

    private struct State {
        var isOver = false
        var isPaused = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = NIOLockedValueBox(State())

    /// True if the gateway has died.
    package var isDead: Bool { state.withLockedValue(\.isOver) }
    /// True if the gateway stands still.
    var isPaused: Bool { state.withLockedValue(\.isPaused) }

    func end() {
        state.withLockedValue { $0.isOver = true }
        goOn()
    }

    func pause() { state.withLockedValue { $0.isPaused = true } }

    func goOn() {
        let waiting = state.withLockedValue { state in
            defer { (state.isPaused, state.waiting) = (false, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func check() throws(Death) { if isDead { throw Death() } }

    /// Waits while the gateway is paused.
    func wait() async {
        guard isPaused else { return }
        await withCheckedContinuation { continuation in
            let isPaused = state.withLockedValue { state in
                if state.isPaused { state.waiting.append(continuation) }
                return state.isPaused
            }
            if !isPaused { continuation.resume() }
        }
    }
}
