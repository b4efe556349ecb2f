// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import GatewayConfig

/// The limits for the server's clients.
package struct ServerLimits: Sendable {
    /// The most connections of clients; further ones are answered 503 and closed.
    package var connections = 4_096
    /// The most connections of the operator's probes.
    package static let adminConnections = 64
    /// The number of further connections that each listener accepts, to answer that there are too many.
    package static let spareConnections = ConnectionCount.spare
    /// The time limits for clients.
    package var timeouts = ConnectionTimeouts()

    /// Creates the usual limits.
    package init() {}

    /// Creates the limits of a configuration.
    package init(_ limits: Configuration.Limits) {
        connections = limits.connections
        timeouts = ConnectionTimeouts(limits)
    }
}
