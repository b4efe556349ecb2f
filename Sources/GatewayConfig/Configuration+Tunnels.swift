// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension Configuration {
    /// The most tunnels.
    package var tunnelLimit: Int { limits.tunnels ?? min(backend.passThroughShare / 2, limits.connections / 2) }

    /// The reason why as many tunnels as are set leave too few connections to others, with a hint; nil if there is none.
    var tunnelFault: (message: String, hint: String)? {
        guard let tunnels = limits.tunnels, tunnels > 0 else { return nil }
        if tunnels >= backend.passThroughShare {
            return (
                "tunnels may take all connections to the backend on which requests pass through",
                "fewer than [backend] pass_through_connections, which is \(backend.passThroughShare)"
            )
        }
        guard tunnels > limits.connections / 2 else { return nil }
        return (
            "tunnels may take most connections of clients",
            "at most half of connections, which is \(limits.connections)"
        )
    }
}
