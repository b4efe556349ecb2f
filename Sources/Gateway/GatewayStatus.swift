// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
package import Backend
import GatewayConfig
package import StateStore
import SyncModel

/// Holds what the gateway knows of its backend, its state and its devices, for the operator's page.
package struct GatewayStatus: Sendable {
    /// The backend's URL.
    package var backend = ""
    /// The breaker before the backend; nil if there is none.
    package var breaker: BackendBreaker.Reading?
    /// The error by which the state cannot be read or written; nil if it can.
    package var stateFailure: GatewayError?
    /// The lines in quarantine.
    package var quarantined = 0
    /// The number of pushed records in quarantine, 10,000 at most.
    package var quarantinedPushes = 0
    /// The open journals of pushes by calls, at most 1,000.
    package var openJournals = 0
    /// The stuck devices, at most 20.
    package var stuck: [DeviceTrouble] = []
    /// The schema versions of the devices that were seen last, at most 10,000 devices.
    package var versions: [(version: Int?, devices: Int)] = []

    /// Creates a status without anything.
    package init() {}
}

extension SyncGateway {
    /// Returns the status, by a few queries of bounded size.
    package func status() async -> GatewayStatus {
        var status = GatewayStatus()
        status.backend = services.configuration.backend.url.description
        status.breaker = services.backend.breaker?.reading
        do {
            try await checkState()
            status.stuck = try await stuckDevices(limit: 20)
            status.quarantined = try await services.store.inspection.quarantineCounts().entries
            status.quarantinedPushes = try await services.store.inspection.quarantinedPushCount()
            status.versions = try await services.store.inspection.schemaVersions(ofLast: 10_000)
            status.openJournals = try await services.store.inspection.journals(of: nil, after: 0, limit: 1_000)
                .count { $0.state == .open }
        } catch {
            status.stateFailure = GatewayError(error)
        }
        return status
    }
}
