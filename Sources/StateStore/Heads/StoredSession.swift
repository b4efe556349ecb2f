// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// A session, for which the backend keeps checkpoints.
struct StoredSession: Hashable, Sendable, Coded {
    /// The time at which the backend last accepted the credential.
    var acceptedAt: Instant?
    /// The time at which it was last used, to about a day.
    var lastSeen: Instant = 0
    /// The replica that syncs under it, whose head has the position; nil if ``position`` is here.
    var replica: Int64?
    var position: StoredPosition?

    mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&acceptedAt, &lastSeen, &replica, &position)
    }
}

/// The vector that the backend holds for a session.
struct StoredPosition: Hashable, Coded {
    /// The session's digest.
    var session = ""
    var vector = CheckpointVector()
    /// The number of the ``LastMove`` since which this is known.
    var move: Int64 = 0

    mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(hex: &session)
        try coder.code(&vector, &move)
    }
}

/// The last time that checkpoints of a principal's sessions were moved at the backend: what moves those of one session
/// may move those of the others, so that only positions that became known since then count.
///
/// It is a row of its own, written without comparing versions: thousands of devices of one principal do not hinder each
/// other.
struct LastMove: Hashable, Sendable, Coded {
    /// A number that no other move has.
    var number: Int64 = 0
    /// The store's epoch in which this was stored: it counts in no other one.
    var epoch: Int64 = 0
    /// The number of resets of all principals when it was stored.
    var resets = 0

    mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&number, &epoch, &resets)
    }
}
