// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Logging
import ServiceLifecycle

/// Drops expired cached answers every few seconds, and gives memory back after peaks.
struct Tidying: Service {
    let gateway: SyncGateway
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await gateway.dropExpired() }
                group.addTask { await ProcessMemory.giveBackAfterPeaks(clock: SystemClock(), logger: logger) }
            }
        }
    }
}
