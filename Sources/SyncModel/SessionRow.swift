// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What is known about one session of the backend.
package struct SessionRow: Hashable, Sendable {
    /// How many resets it has seen.
    package var generation: Int
    /// What the backend holds for it.
    package var position: Position
    /// When the backend last accepted its credential, in milliseconds since 1970.
    package var acceptedAt: Int64?

    /// What is true of a session that nobody has met before.
    package init(generation: Int = 0, position: Position = .unknown, acceptedAt: Int64? = nil) {
        self.generation = generation
        self.position = position
        self.acceptedAt = acceptedAt
    }
}
