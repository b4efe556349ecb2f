// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Lets requests wait for moments that seldom come, since almost every answer is there before.
///
/// A timer of an event loop for each of them would wake the loop to begin it and to end it. Here a wait is a row in a
/// table, and one timer looks at the table now and then, as long as there are rows.
final class PatienceTimer: Sendable {
    private struct Wait {
        let deadline: NIODeadline
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var waits: [UInt64: Wait] = [:]
        var next: UInt64 = 0
        var isTicking = false
    }

    private let state = NIOLockedValueBox(State())
    private let loop: any EventLoop
    private let step: TimeAmount

    /// Creates a timer whose waits take up to `step` longer than they should.
    init(step: TimeAmount, on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()) {
        self.step = step
        self.loop = loop
    }

    /// Waits for some time, or until the task is cancelled.
    func wait(_ time: TimeAmount) async throws(CancellationError) {
        let deadline = NIODeadline.now() + time
        let number = state.withLockedValue { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(Wait(deadline: deadline, continuation: continuation), number)
                // A cancellation before this moment has found no wait.
                if Task.isCancelled { end(number) }
            }
        } onCancel: {
            end(number)
        }
        if Task.isCancelled { throw CancellationError() }
    }

    private func begin(_ wait: Wait, _ number: UInt64) {
        let mustStart = state.withLockedValue { state in
            state.waits[number] = wait
            defer { state.isTicking = true }
            return !state.isTicking
        }
        if mustStart { tickLater() }
    }

    private func end(_ number: UInt64) {
        let wait = state.withLockedValue { $0.waits.removeValue(forKey: number) }
        wait?.continuation.resume()
    }

    private func tickLater() { loop.scheduleTask(in: step) { self.tick() } }

    /// Ends the waits that are over, and goes on unless nobody waits.
    private func tick() {
        let now = NIODeadline.now()
        let (due, goesOn) = state.withLockedValue { state in
            let due = state.waits.filter { $0.value.deadline <= now }
            for number in due.keys { state.waits[number] = nil }
            state.isTicking = !state.waits.isEmpty
            return (due, state.isTicking)
        }
        for wait in due.values { wait.continuation.resume() }
        if goesOn { tickLater() }
    }
}
