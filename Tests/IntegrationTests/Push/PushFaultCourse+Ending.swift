// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import NIOConcurrencyHelpers
import SyncModel

// Syncs that end with their gateway.
extension PushFaultCourse {
    /// What a sync has made of a device so far.
    private struct Attempt {
        var device: StackDevice
        var isSynced = false
        /// The code with which the sync failed; nil if the device has heard nothing of that.
        var failure: String?
        /// True if its gateway has begun to end.
        var isEnding = false
    }

    mutating func sync(
        _ place: Int, endingAfter calls: Int?, _ end: @escaping @Sendable () async throws -> Void
    ) async throws {
        try tidy(place)
        let attempt = NIOLockedValueBox(Attempt(device: devices[place]))
        // Of a gateway that is cut off the device hears nothing more; from a killed process nothing can come.
        let isDeaf = manner.end != .killed
        let limit = calls.map { $0 + backend.requests.count }
        let pause = Int(random.next() % 4)
        let (after, isStopped) = await Self.race(attempt, backend, limit: limit, pause: pause, isDeaf, end)
        devices[place] = after.device
        if !after.isSynced { outcome.failures[after.failure ?? Outcome.unheard, default: 0] += 1 }
        if isStopped { outcome.stops += 1 }
    }

    /// Lets a device sync until it is done, or until the gateway has ended and the device knows.
    private static func race(
        _ attempt: NIOLockedValueBox<Attempt>, _ backend: DemoBackend, limit: Int?, pause: Int, _ isDeaf: Bool,
        _ end: @escaping @Sendable () async throws -> Void
    ) async -> (Attempt, isStopped: Bool) {
        await withTaskGroup(of: Attempt?.self) { group in
            group.addTask {
                await sync(attempt)
                return nil
            }
            if let limit {
                group.addTask {
                    do {
                        while backend.requests.count < limit { try await Task.sleep(for: .milliseconds(1)) }
                        try await Task.sleep(for: .milliseconds(pause))
                        let heard = attempt.withLockedValue { attempt in
                            defer { attempt.isEnding = true }
                            return attempt
                        }
                        try await end()
                        return heard
                    } catch { return nil }
                }
            }
            guard let first = await group.next() else { return (attempt.withLockedValue { $0 }, false) }
            if let heard = first {
                if isDeaf { group.cancelAll() }
                await group.waitForAll()
                return (isDeaf ? heard : attempt.withLockedValue { $0 }, true)
            }
            group.cancelAll()
            // It may have ended although the device was quicker: its connection ends before its process has.
            await group.waitForAll()
            let last = attempt.withLockedValue { $0 }
            return (last, last.isEnding)
        }
    }

    private static func code(of error: any Error) -> String {
        switch error {
        case StackDevice.Failure.pull(let answer), StackDevice.Failure.push(let answer):
            answer.errorCode ?? (answer.isComplete ? "\(answer.status)" : "cut")
        case StackDevice.Failure.apply(let failure, _): failure.message
        default: "network"
        }
    }

    /// What `synchronize()` does, as far as it comes.
    private static func sync(_ attempt: NIOLockedValueBox<Attempt>) async {
        var device = attempt.withLockedValue { $0.device }
        do {
            try await device.pull()
            attempt.withLockedValue { [device] in $0.device = device }
            try await device.push()
            attempt.withLockedValue { [device] in ($0.device, $0.isSynced) = (device, true) }
        } catch {
            attempt.withLockedValue { [device] in ($0.device, $0.failure) = (device, code(of: error)) }
        }
    }
}
