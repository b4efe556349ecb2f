// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Gateway
import GatewayConfig
import Logging
import ServiceLifecycle
import StateStore
import SyncModel

/// Takes away, once an hour, what the state no longer needs.
struct Housekeeping: Service {
    let store: Accounts
    /// Returns the settings, which a reload may change.
    let ledger: @Sendable () -> GatewayConfig.Configuration.Ledger
    let clock: any WallClock
    let logger: Logger
    /// The running time of the process, independent of the clock; time in which the machine slept does not count.
    var uptime: @Sendable () -> Duration = {
        let start = SuspendingClock.now
        return { SuspendingClock.now - start }
    }()

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var last: Duration?
            while !Task.isCancelled {
                let now = uptime()
                await collect(after: last.map { now - $0 })
                last = now
                do { try await clock.sleep(milliseconds: 3_600_000) } catch { return }
            }
        }
    }

    /// Collects once.
    ///
    /// - Parameter ran: The running time of the process since the last collection.
    private func collect(after ran: Duration?) async {
        do {
            var retention = ledger().retention(at: clock.now)
            retention.ran = ran?.milliseconds
            var collected = try await store.collect(retention) { try await clock.sleep(milliseconds: 1_000) }
            if collected.leapt != 0 {
                logger.notice(
                    "the clock was set, or the gateway did not run: no device is forgotten for that time",
                    metadata: ["code": "state.clock_leapt", "seconds": "\(collected.leapt / 1_000)"])
                collected.leapt = 0
            }
            if let first = collected.firstDamage {
                logger.error(
                    "expired state of users could not be removed, since something of theirs cannot be read",
                    metadata: [
                        "code": "\(Coder.damage.code)", "principals": "\(collected.damaged)",
                        "first": "\(first)", "hint": "see 'Coding and damage' in docs/STATE.md",
                    ])
                (collected.damaged, collected.firstDamage) = (0, nil)
            }
            guard !collected.isEmpty else { return }
            logger.info(
                "expired state removed",
                metadata: [
                    "receipts": .stringConvertible(collected.receipts),
                    "cursors": .stringConvertible(collected.cursors),
                    "replicas": .stringConvertible(collected.replicas),
                    "sessions": .stringConvertible(collected.sessions),
                    "principals": .stringConvertible(collected.principals),
                    "undos": .stringConvertible(collected.undos), "siblings": .stringConvertible(collected.siblings),
                    "chunks": .stringConvertible(collected.chunks), "notes": .stringConvertible(collected.notes),
                    "journals": .stringConvertible(collected.journals),
                ])
        } catch is CancellationError {
            return
        } catch {
            let code = (error as? StateError)?.code ?? GatewayFault.unknown.rawValue
            logger.warning("expired state could not be removed", metadata: ["code": "\(code)", "error": "\(error)"])
        }
    }
}

extension GatewayConfig.Configuration.Ledger {
    /// Returns the retention at a time.
    ///
    /// Cursors that a later one has replaced live as long as devices: a device may come back with such a cursor,
    /// restored from a backup. The layers that lead back to such a cursor go earlier, so that device gets a full stream
    /// and its diff. A device whose pulls bring nothing is written about once a day, so it may look a day older than it
    /// is.
    func retention(at now: Instant) -> Retention {
        Retention(
            now: now, seenBefore: now - maxOffline.milliseconds - SyncGateway.idleCursorAge,
            supersededBefore: now - maxOffline.milliseconds, undoBefore: now - rewind.milliseconds)
    }
}
