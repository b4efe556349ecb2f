// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Holds what the gateway reaches outside of itself, beside its backend and its state.
package struct GatewayPorts: Sendable {
    /// The time of day.
    package var clock: any WallClock
    /// What spools overflow into.
    package var files: any SpoolFiles
    /// Where random numbers come from.
    package var random: Randomness

    /// Ports; by default the machine's clock and random numbers.
    package init(files: any SpoolFiles, clock: any WallClock = SystemClock(), random: Randomness = .system) {
        self.clock = clock
        self.files = files
        self.random = random
    }
}
