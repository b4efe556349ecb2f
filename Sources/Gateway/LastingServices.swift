// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayConfig
import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Holds what outlives a reload of the configuration: the state, and what keeps running syncs apart and within limits.
///
/// Syncs that began before a reload still run beside those of the new configuration, so all of them share it. What it
/// takes from the configuration needs a restart to change.
final class LastingServices: Sendable {
    let store: Accounts
    let ports: GatewayPorts
    let tuning: GatewayTuning
    let cachedAnswers: CachedAnswers
    let spools: SpoolBudget
    let comparing: Occupancy
    let running: FairPermits
    let making: IDMaking
    let ackRefusals = AckRefusals()
    let positionHolders = PositionHolders()
    let values = ValueWatch()
    let locks: LockTable
    let leases: Leases
    let journals = RunningJournals()
    private let configurations = NIOLockedValueBox(0)

    init(configuration: Configuration, store: Accounts, ports: GatewayPorts, tuning: GatewayTuning) {
        self.store = store
        self.ports = ports
        self.tuning = tuning
        cachedAnswers = CachedAnswers(
            maximumBytes: configuration.limits.answersKept, window: configuration.pull.repeatWindow.milliseconds)
        // Weak, because a cached answer holds its part of the budget: neither would ever go away.
        spools = SpoolBudget(memory: configuration.spool.memoryTotal, disk: configuration.spool.diskTotal) {
            [weak cachedAnswers] principal in cachedAnswers?.dropOldest(of: principal) ?? false
        }
        comparing = Occupancy(maximum: max(1, configuration.ledger.resweepParallel))
        running = FairPermits(maximum: configuration.limits.pulls)
        making = IDMaking(clock: ports.clock)
        locks = LockTable(
            maximumWaiting: configuration.limits.queue, timeout: configuration.limits.queueWait, clock: ports.clock)
        leases = Leases(configuration: configuration, store: store, ports: ports)
    }

    /// Returns a number for one more configuration.
    func nextConfiguration() -> Int {
        configurations.withLockedValue { count in
            count += 1
            return count
        }
    }
}
