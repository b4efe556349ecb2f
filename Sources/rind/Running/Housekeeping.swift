// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import Logging
import ServiceLifecycle
import StateStore

/// Takes away, once an hour, what the state no longer needs.
struct Housekeeping: Service {
    let store: any StateStore
    let ledger: GatewayConfig.Configuration.Ledger
    let clock: any WallClock
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await collect()
                do { try await clock.sleep(milliseconds: 3_600_000) } catch { return }
            }
        }
    }

    private func collect() async {
        do {
            let collected = try await store.collect(ledger.retention(at: clock.now))
            guard !collected.isEmpty else { return }
            logger.info(
                "the state was tidied",
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
            let code = (error as? StateError)?.code ?? "internal"
            logger.warning("the state could not be tidied", metadata: ["code": "\(code)", "error": "\(error)"])
        }
    }
}

extension GatewayConfig.Configuration.Ledger {
    /// What may be forgotten at a time.
    ///
    /// Cursors that a later one stands in for live as long as devices: one may come back with such a cursor, restored
    /// from a backup. What leads back to it goes earlier, so it gets full stream and difference then.
    func retention(at now: Int64) -> Retention {
        Retention(
            now: now, seenBefore: now - maxOffline.milliseconds, supersededBefore: now - maxOffline.milliseconds,
            undoBefore: now - rewind.milliseconds)
    }
}
