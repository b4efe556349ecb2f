// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Logging
import ServiceLifecycle
import SyncModel
import UnixSignals

/// Services that run until a signal ends them.
struct SignalledServices {
    let services: ServiceGroup
    /// The source of the signals; as long as it lives, none of them ends the process by itself.
    let signals: UnixSignalsSequence
    let threshold: LogThreshold
    let logger: Logger
    /// Called when the services are about to end, before they hear of it.
    let onDraining: @Sendable (UnixSignal) -> Void
    /// The time until they hear of it.
    var delay = Duration.zero
    /// Called once a second meanwhile, with the rest of the time.
    var onDelay: @Sendable (Duration) -> Void = { _ in }
    /// Reads the configuration again.
    let reload: @Sendable () async -> Void

    private enum Event {
        case ended, stopped, reloadsEnded
    }

    /// Runs the services to their end.
    ///
    /// - Throws: The error of a service.
    func run() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        // Signals that come while a reload runs are answered by one more.
        let (reloads, requests) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup(of: Event.self) { tasks in
            tasks.addTask {
                try await services.run()
                return .ended
            }
            tasks.addTask { await obey(reloads: requests, end: end) }
            tasks.addTask {
                for await _ in reloads { await reload() }
                return .reloadsEnded
            }
            tasks.addTask {
                for await _ in ends { await endAfterDelay() }
                return .ended
            }
            let first = try await tasks.next()
            tasks.cancelAll()
            // An error of services that were cut is no failure.
            if first == .stopped { _ = try? await tasks.next() }
        }
    }

    /// Lets the services end after the delay, unless they are cut before.
    private func endAfterDelay() async {
        let end = ContinuousClock.now + delay
        do {
            while end - .now > .seconds(1) {
                try await SystemClock().sleep(milliseconds: 1_000)
                onDelay(end - .now)
            }
            try await SystemClock().sleep(milliseconds: max(0, (end - .now).milliseconds))
        } catch {
            return
        }
        await services.triggerGracefulShutdown()
    }

    /// Carries out the signals until the services have to be cut, or have ended.
    private func obey(reloads: AsyncStream<Void>.Continuation, end: AsyncStream<Void>.Continuation) async -> Event {
        var rules = SignalRules()
        for await signal in signals {
            let wasDraining = rules.phase == .draining
            switch rules.receive(signal) {
            case .ignore:
                logger.notice("the signal is ignored: the gateway is ending", metadata: ["signal": "\(signal)"])
            case .reload:
                logger.notice("reloading the configuration", metadata: ["signal": "\(signal)"])
                reloads.yield()
            case .log(let debug):
                threshold.change(toDebug: debug)
                logger.notice(
                    "the level of the log was changed",
                    metadata: ["signal": "\(signal)", "to_level": "\(threshold.level)"])
            case .drain:
                onDraining(signal)
                end.yield()
            case .stop:
                logger.notice(
                    wasDraining
                        ? "stopping at once: the signal came while draining, what still runs is cut"
                        : "stopping at once: what runs is cut",
                    metadata: ["signal": "\(signal)"])
                return .stopped
            case .none: break
            }
        }
        return .ended
    }
}
