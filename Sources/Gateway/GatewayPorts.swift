// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Holds the ports of the gateway that are not parameters of their own: its state is one, and the transport in its
/// backend's client.
package struct GatewayPorts: Sendable {
    /// The time of day.
    package var clock: any WallClock
    /// Makes the files that spools overflow into.
    package var files: any SpoolFiles
    /// The source of random numbers.
    package var random: Randomness

    /// Creates ports, by default with the machine's clock and random numbers.
    package init(files: any SpoolFiles, clock: any WallClock = SystemClock(), random: Randomness = .system) {
        self.clock = clock
        self.files = files
        self.random = random
    }
}
