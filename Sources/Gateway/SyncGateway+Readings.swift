// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import StateStore
package import Telemetry

extension SyncGateway {
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
        return [
            MetricReading(.locksHeld, Double(held)), MetricReading(.locksWaiting, Double(waiting)),
            MetricReading(.pullsRunning, Double(services.running.taken)),
            MetricReading(.pullLimit, Double(configuration.limits.pulls)),
            MetricReading(.comparisons, Double(services.comparing.taken)),
            MetricReading(.spool, Double(spooled.memory), labels: ["memory"]),
            MetricReading(.spool, Double(spooled.disk), labels: ["disk"]),
            MetricReading(.spoolLimit, Double(configuration.spool.memoryTotal), labels: ["memory"]),
            MetricReading(.spoolLimit, Double(configuration.spool.diskTotal), labels: ["disk"]),
        ]
    }

    /// Reads the gauges that the state knows.
    package func stateReadings() async -> [MetricReading] {
        do {
            let lines = try await services.store.quarantineCounts().entries
            var readings = [MetricReading(.stateReads, 1), MetricReading(.quarantine, Double(lines))]
            guard let store = services.store as? any JournalAdmin else { return readings }
            let journals = try await store.journals(of: nil, after: 0, limit: 10_000)
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
