// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Logging
import ServiceLifecycle
import StateStore

/// Takes away, once an hour, what the state no longer needs.
struct Housekeeping: Service {
    /// For how long cursors and devices are remembered that nobody has seen, in milliseconds: a year.
    ///
    /// Also a cursor that a later one stands in for: a device may come back with it, restored from a backup.
    static let keptFor: Int64 = 365 * 86_400_000

    let store: any StateStore
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
        let now = clock.now
        let retention = Retention(
            now: now, seenBefore: now - Self.keptFor, supersededBefore: now - Self.keptFor)
        do {
            let collected = try await store.collect(retention)
            guard !collected.isEmpty else { return }
            logger.info(
                "the state was tidied",
                metadata: [
                    "receipts": .stringConvertible(collected.receipts),
                    "cursors": .stringConvertible(collected.cursors),
                    "replicas": .stringConvertible(collected.replicas),
                    "sessions": .stringConvertible(collected.sessions),
                    "principals": .stringConvertible(collected.principals),
                ])
        } catch is CancellationError {
            return
        } catch {
            let code = (error as? StateError)?.code ?? "internal"
            logger.warning("the state could not be tidied", metadata: ["code": "\(code)", "error": "\(error)"])
        }
    }
}
