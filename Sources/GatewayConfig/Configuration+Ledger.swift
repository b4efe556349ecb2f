// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension Configuration {
    /// `[ledger]`: the gateway's records of each device's holdings, and their use.
    package struct Ledger: Hashable, Sendable {
        /// The mode for tables without a choice of their own; ``Table/isLedgered`` decides for one table.
        package var mode = LedgerMode.full
        /// The time between full comparisons of a request type; zero for never.
        package var resweepEvery: Duration = .seconds(7 * 86_400)
        /// The most pulls that make full comparisons at a time, over all clients.
        package var resweepParallel = 2
        /// The most records of a type for a full comparison; 0 for no limit.
        package var resweepRows = 1_000_000
        /// The time for which the gateway knows exactly what a device held at an older cursor.
        package var rewind: Duration = .seconds(7 * 86_400)
        /// The most records of a table, in percent, that a comparison may delete for absence; 100 for no limit.
        package var maxSweep = 20
        /// The time for which a full stream need not show what was pushed; zero if it always does.
        package var settle: Duration = .seconds(300)
        /// The time for which devices, cursors and deleted records are remembered.
        package var maxOffline: Duration = .seconds(365 * 86_400)

        /// Creates the defaults.
        package init() {}
    }
}
