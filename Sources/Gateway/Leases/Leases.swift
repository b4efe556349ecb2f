// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayConfig
import Logging
import NIOConcurrencyHelpers
import StateStore
import SyncMachines
import SyncModel
import Telemetry

/// Takes the leases of principals, so that of several gateways on one state only one syncs for a principal at a time.
final class Leases: Sendable {
    /// The numbers of what has happened, for the metrics.
    struct Counts: Sendable {
        /// Syncs that had to wait for another gateway.
        var waits = 0
        /// Syncs that have waited in vain.
        var refusals = 0
        /// Leases that were taken from a gateway that had not given them back.
        var takeovers = 0
        /// Syncs that have lost their lease to another gateway.
        var losses = 0
    }

    /// The first and the longest pause between two attempts to take a lease, in milliseconds.
    private static let pauses: ClosedRange<Int64> = 10...400

    /// The name of this gateway among the holders of leases.
    let holder: String
    private let store: Accounts
    private let clock: any WallClock
    private let random: Randomness
    private let lifetime: Int64
    private let callTimeout: Int64
    private let longestWait: Int64
    private let counted = NIOLockedValueBox(Counts())

    init(configuration: Configuration, store: Accounts, ports: GatewayPorts) {
        self.store = store
        clock = ports.clock
        random = ports.random
        var random = ports.random
        holder = String(UInt64.random(in: .min ... .max, using: &random), radix: 16)
        lifetime = configuration.state.lease.milliseconds
        callTimeout = configuration.callTimeout.milliseconds
        longestWait = configuration.limits.queueWait.milliseconds
    }

    /// True if the state may have other gateways.
    var areNeeded: Bool { store.needsLeases }

    var counts: Counts { counted.withLockedValue(\.self) }

    /// Runs `body` under the principal's lease, with what the state knew when it was taken.
    ///
    /// The caller holds the principal's lock in this process. The lease is given back afterwards, unless the last write
    /// has done so.
    ///
    /// - Throws: ``LockError/heldElsewhere`` if another gateway has held it for longer than `[limits] queue_wait`, or
    ///   holds it and this does not wait; otherwise the errors of the state and of `body`.
    func withLease<R>(
        of identity: CallerIdentity, presenting cursor: Cursor?, pushing records: [PushedRecordKey] = [], waits: Bool,
        logger: Logger, _ body: (StoredPullContext) async throws -> R
    ) async throws -> R {
        let (context, keeper) = try await take(
            for: identity, presenting: cursor, pushing: records, waits: waits, logger)
        let result: Result<R, any Error>
        do {
            result = .success(
                try await LeaseKeeper.$current.withValue(keeper) {
                    try await Lease.$current.withValue(keeper.lease) {
                        try await withKeeping(keeper) { try await body(context) }
                    }
                })
        } catch {
            if error as? StateError == .leaseLost { keeper.lose() }
            result = .failure(error)
        }
        await end(keeper, logger)
        return try result.get()
    }

    /// Renews the lease while `body` runs.
    private func withKeeping<R>(_ keeper: LeaseKeeper, _ body: () async throws -> R) async throws -> R {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await keeper.keep() }
            defer { group.cancelAll() }
            return try await body()
        }
    }

    private func end(_ keeper: LeaseKeeper, _ logger: Logger) async {
        if keeper.isLost {
            counted.withLockedValue { $0.losses += 1 }
            logger.warning(
                "a sync has lost its lease to another gateway", metadata: ["code": "\(StateError.leaseLost.code)"])
        }
        guard keeper.isHeld else { return }
        do {
            try await store.giveBack(keeper.lease)
        } catch {
            // It runs out by itself.
            logger.notice(
                "could not give a lease back",
                metadata: ["code": "\((error as? StateError)?.code ?? "")", "error": "\(error)"])
        }
    }

    private func take(
        for identity: CallerIdentity, presenting cursor: Cursor?, pushing records: [PushedRecordKey], waits: Bool,
        _ logger: Logger
    ) async throws -> (StoredPullContext, LeaseKeeper) {
        let began = clock.uptime
        var pause = Self.pauses.lowerBound
        var isWaiting = false
        while true {
            let asked = clock.uptime
            let (context, answer) = try await store.take(
                LeaseRequest(
                    holder: holder, lifetime: lifetime, callTimeout: callTimeout, now: clock.now,
                    records: records), of: identity.principal, session: identity.session, presented: cursor)
            switch answer {
            case .taken(let lease, let other, let distrust):
                if let other { log(takeoverFrom: other, logger) }
                return (
                    context,
                    LeaseKeeper(
                        lease, takenAt: asked, distrustsPosition: distrust > 0, lifetime: lifetime, store: store,
                        clock: clock)
                )
            case .held where !waits: throw LockError.heldElsewhere
            case .held(let other):
                if !isWaiting { counted.withLockedValue { $0.waits += 1 } }
                isWaiting = true
                guard clock.uptime - began + pause <= longestWait else { throw refused(by: other, logger) }
                let timing = SyncTrace.begin(.queue)
                defer { timing.end() }
                var random = random
                try await clock.wait(milliseconds: Int64.random(in: pause / 2...pause, using: &random))
                pause = min(pause * 2, Self.pauses.upperBound)
            }
        }
    }

    private func log(takeoverFrom other: LeaseHolder, _ logger: Logger) {
        counted.withLockedValue { $0.takeovers += 1 }
        logger.warning(
            "a gateway has not given a lease back: it has died, or it is paused or cut off from the state",
            metadata: [
                "code": "state.lease_taken_over", "holder": "\(other.name)", "since": "\(Self.text(other.since))",
            ])
    }

    private func refused(by other: LeaseHolder, _ logger: Logger) -> LockError {
        counted.withLockedValue { $0.refusals += 1 }
        logger.warning(
            "another gateway syncs for the same principal",
            metadata: ["code": "limit.lease_wait", "holder": "\(other.name)", "since": "\(Self.text(other.since))"])
        return .heldElsewhere
    }

    private static func text(_ time: Instant) -> String { ISO8601.text(milliseconds: time.milliseconds) }
}
