// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The stored state of one backend session.
package struct SessionRow: Hashable, Sendable {
    /// The number of resets that the session has seen.
    package var generation: Int
    /// The checkpoints that the backend holds for the session.
    package var position: Position
    /// The time at which the backend last accepted the session's credential.
    package var acceptedAt: Instant?

    /// Creates a row; the defaults are those of a session never seen before.
    package init(generation: Int = 0, position: Position = .unknown, acceptedAt: Instant? = nil) {
        self.generation = generation
        self.position = position
        self.acceptedAt = acceptedAt
    }
}
