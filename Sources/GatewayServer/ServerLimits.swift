// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What the server allows beyond the configuration's limits.
package struct ServerLimits: Sendable {
    /// How many connections of clients there may be; further ones wait to be accepted.
    package var connections = 4_096
    /// The most bytes that the bodies of running sync requests take together.
    package var bodyMemory = 512 << 20
    /// How long clients may take.
    package var timeouts = ConnectionTimeouts()

    /// The usual limits.
    package init() {}
}
