// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Backend
import GatewayConfig
package import StateStore
import SyncModel
package import Telemetry

extension SyncGateway {
    /// False if `[limits] pulls` are running.
    package var hasRoomForPulls: Bool { services.running.hasRoom }

    /// Returns true if a header field of syncs, named in small letters, goes to the backend.
    package func forwards(_ field: String) -> Bool { services.configuration.forwardingRule.names.contains(field) }

    /// The bytes held by answers that are being made, sent or cached: in memory and on disk.
    package var spooled: (memory: Int, disk: Int) {
        let held = services.spools.held
        return (held.memory, held.disk)
    }

    /// Reads the gauges of the metrics that need no question to the state.
    package var readings: [MetricReading] {
        let (held, waiting) = services.locks.occupancy
        let spooled = services.spools.held
        let configuration = services.configuration
        let leases = services.leases.counts
        let events = [
            ("wait", leases.waits), ("refused", leases.refusals), ("taken_over", leases.takeovers),
            ("lost", leases.losses),
        ]
        return breakerReadings + events.map { MetricReading(.leases, Double($0.1), labels: [$0.0]) } + [
            MetricReading(.locksHeld, Double(held)), MetricReading(.locksWaiting, Double(waiting)),
            MetricReading(.pullsRunning, Double(services.running.taken)),
            MetricReading(.pullLimit, Double(configuration.limits.pulls)),
            MetricReading(.comparisons, Double(services.comparing.taken)),
            MetricReading(.spool, Double(spooled.memory), labels: ["memory"]),
            MetricReading(.spool, Double(spooled.disk), labels: ["disk"]),
            MetricReading(.spoolLimit, Double(configuration.spool.memoryTotal), labels: ["memory"]),
            MetricReading(.spoolLimit, Double(configuration.spool.diskTotal), labels: ["disk"]),
            MetricReading(.tokenKeyAge, tokens?.age),
        ]
    }

    /// Returns the devices that are stuck, those that tried last first.
    package func stuckDevices(limit: Int) async throws -> [DeviceTrouble] {
        try await services.store.inspection.stuckDevices(
            by: services.configuration.admin.stuckRule, since: services.clock.now - StuckRule.unseen, limit: limit)
    }

    private var breakerReadings: [MetricReading] {
        let breaker = services.backend.breaker?.reading
        return [
            MetricReading(.breakerOpenings, breaker.map { Double($0.openings) }),
            MetricReading(.breakerRefusals, breaker.map { Double($0.refusals) }),
        ]
            + CircuitBreaker.State.allCases.map { state in
                MetricReading(.breakerState, breaker.map { $0.state == state ? 1 : 0 }, labels: [state.rawValue])
            }
    }

    /// Reads the gauges that the state knows.
    package func stateReadings() async -> [MetricReading] {
        do {
            let inspection = services.store.inspection
            let lines = try await inspection.quarantineCounts().entries
            let pushes = try await inspection.quarantinedPushCount()
            var readings = [
                MetricReading(.stateReads, 1), MetricReading(.quarantine, Double(lines)),
                MetricReading(.quarantinedPushes, Double(pushes)),
            ]
            let stuck = try await stuckDevices(limit: 1_000)
            for kind in DeviceTrouble.Kind.allCases {
                readings.append(
                    MetricReading(.stuck, Double(stuck.count { $0.kind == kind }), labels: [kind.rawValue]))
            }
            let journals = try await inspection.journals(of: nil, after: 0, limit: 10_000)
            for state in PushJournal.State.allCases {
                let count = journals.count { $0.state == state }
                readings.append(MetricReading(.journals, Double(count), labels: [state.rawValue]))
            }
            return readings
        } catch {
            return [MetricReading(.stateReads, 0)]
        }
    }
}
