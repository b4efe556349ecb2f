// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension Configuration {
    /// `[ledger]`: what the gateway remembers of each device's records, and what it does with it.
    package struct Ledger: Hashable, Sendable {
        /// Whether tables that do not say otherwise have a ledger; ``Table/isLedgered`` is what counts for one.
        package var mode = LedgerMode.full
        /// After how long everything of a request type is compared again; zero is never.
        package var resweepEvery: Duration = .seconds(7 * 86_400)
        /// How many pulls compare everything of a type at a time, over all clients.
        package var resweepParallel = 2
        /// The most records of a type that are compared again; 0 is no limit.
        package var resweepRows = 1_000_000
        /// For how long an older cursor of a device is told exactly what the device held at it.
        package var rewind: Duration = .seconds(7 * 86_400)
        /// How many percent of a table's records a comparison may delete for absence; 100 is no limit.
        package var maxSweep = 20
        /// For how long devices, cursors and deleted records are remembered.
        package var maxOffline: Duration = .seconds(365 * 86_400)

        /// The defaults.
        package init() {}
    }
}
