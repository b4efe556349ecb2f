// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What a client wants, freed from the form in which it said so.
package enum ClientRequest: Sendable {
    case pull(PullRequest)
    case push(PushRequest)
}

/// A client asks what is new.
package struct PullRequest: Hashable, Sendable {
    /// How far it has got.
    package var lastPulledAt: LastPulledAt
    /// The version of its schema; nil where it didn't say, as two thirds of apps don't.
    package var schemaVersion: Int?
    /// What its schema gained since it was last in sync, where it said so.
    package var migration: Migration?

    /// A pull.
    package init(lastPulledAt: LastPulledAt, schemaVersion: Int? = nil, migration: Migration? = nil) {
        self.lastPulledAt = lastPulledAt
        self.schemaVersion = schemaVersion
        self.migration = migration
    }
}

/// A client sends what its user changed.
package struct PushRequest: Sendable {
    /// The cursor of the pull before it; nil where it didn't say, as a third of apps don't.
    ///
    /// Like ``LastPulledAt/cursor(_:)`` it may be a number that no gateway ever handed out.
    package var lastPulledAt: Int64?
    /// The version of its schema, where it said so.
    package var schemaVersion: Int?
    /// The records.
    package var changes: PushChanges

    /// A push.
    package init(lastPulledAt: Int64?, schemaVersion: Int? = nil, changes: PushChanges) {
        self.lastPulledAt = lastPulledAt
        self.schemaVersion = schemaVersion
        self.changes = changes
    }
}

/// How far a pulling client has got.
package enum LastPulledAt: Hashable, Sendable {
    /// It has nothing yet: the first sync.
    case never
    /// The number that it keeps, at least 1.
    ///
    /// It may be above `Cursor.maximum` (an app that comes from a server that counts nanoseconds), and is cut to
    /// `Int64.max`; `Cursor(rawValue:)` is nil then, and it is to be treated as a cursor that nobody knows.
    case cursor(Int64)
}
