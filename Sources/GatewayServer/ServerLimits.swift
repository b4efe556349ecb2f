// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import GatewayConfig

/// What the server allows its clients.
package struct ServerLimits: Sendable {
    /// How many connections of clients there may be; further ones are answered 503 and closed.
    package var connections = 4_096
    /// How many connections of the operator's probes there may be.
    package static let adminConnections = 64
    /// How many more connections each listener accepts, to tell them that there are too many.
    package static let spareConnections = ConnectionCount.spare
    /// How long clients may take.
    package var timeouts = ConnectionTimeouts()

    /// The usual limits.
    package init() {}

    /// The limits of a configuration.
    package init(_ limits: Configuration.Limits) {
        connections = limits.connections
        timeouts = ConnectionTimeouts(limits)
    }
}
