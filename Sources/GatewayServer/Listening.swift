// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import ServiceLifecycle

/// A listener as a service: on graceful shutdown it has a grace period to end in, then it is cut.
struct Listening: Service {
    /// The longest time for the listener to end.
    let grace: Duration
    /// Serves until graceful shutdown, or until it is cancelled.
    let serve: @Sendable () async throws -> Void
    /// Called when graceful shutdown begins, before the listener closes.
    var onDraining: @Sendable () -> Void = {}
    /// Called once a second after that.
    var eachSecond: @Sendable () -> Void = {}
    /// Called when the grace is over, before running requests are cut.
    var onGraceElapsed: @Sendable () -> Void = {}

    private enum Event {
        case ended, graceElapsed, cancelled
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Event.self) { group in
            group.addTask {
                try await serveUntilDrained()
                return .ended
            }
            group.addTask { await waitForGrace() }
            while let event = try await group.next() {
                switch event {
                case .ended: group.cancelAll()
                case .graceElapsed:
                    onGraceElapsed()
                    group.cancelAll()
                case .cancelled: break
                }
            }
        }
    }

    /// Serves, and reports the beginning of draining: `serve` closes the listener in a handler that is called after
    /// this one.
    ///
    /// When services are cancelled, their end shuts the others down; that is not draining.
    private func serveUntilDrained() async throws {
        let isCut = NIOLockedValueBox(false)
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler(operation: serve) {
                if !isCut.withLockedValue(\.self) { onDraining() }
            }
        } onCancel: {
            isCut.withLockedValue { $0 = true }
        }
    }

    private func waitForGrace() async -> Event {
        do {
            try await gracefulShutdown()
            let end = ContinuousClock.now + grace
            while end - .now > .seconds(1) {
                try await Task.sleep(for: .seconds(1))
                eachSecond()
            }
            try await Task.sleep(until: end)
            return .graceElapsed
        } catch {
            return .cancelled
        }
    }
}
