// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What the server allows beyond the configuration's limits.
package struct ServerLimits: Sendable {
    /// How many connections of clients there may be; further ones wait to be accepted.
    package var connections = 4_096
    /// How long clients may take.
    package var timeouts = ConnectionTimeouts()

    /// The usual limits.
    package init() {}
}
