// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Gateway
import Logging
import ServiceLifecycle
import StateStore
import SyncModel

/// Stores, once a second, what the state has put off and is due: commands see it from then on.
struct DeferredStoring: Service {
    let store: Accounts
    let clock: any WallClock
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isFailing = false
            while !Task.isCancelled {
                do { try await clock.sleep(milliseconds: 1_000) } catch { return }
                isFailing = await !storeDeferred(isFailing)
            }
        }
    }

    /// Returns false if something could not be stored, and logs that unless it was so a second ago.
    private func storeDeferred(_ wasFailing: Bool) async -> Bool {
        do {
            try await store.storeDeferred(at: clock.now)
            return true
        } catch is CancellationError {
            return true
        } catch {
            let code = (error as? StateError)?.code ?? GatewayFault.unknown.rawValue
            guard !wasFailing else { return false }
            logger.warning(
                "contacts of devices could not be stored: they are stored later, or brought again by the devices",
                metadata: ["code": "\(code)", "error": "\(error)"])
            return false
        }
    }
}
