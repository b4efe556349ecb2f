// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A client's request, independent of the form in which it was sent.
package enum ClientRequest: Sendable {
    case pull(PullRequest)
    case push(PushRequest)
}

/// A client asks what is new.
package struct PullRequest: Hashable, Sendable {
    /// The client's last cursor.
    package var lastPulledAt: LastPulledAt
    /// The version of its schema; nil where it didn't say, as two thirds of apps don't.
    package var schemaVersion: Int?
    /// The tables and columns that its schema has gained since its last sync; nil if the request does not say so.
    package var migration: Migration?

    /// Creates a pull.
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

    /// Creates a push.
    package init(lastPulledAt: Int64?, schemaVersion: Int? = nil, changes: PushChanges) {
        self.lastPulledAt = lastPulledAt
        self.schemaVersion = schemaVersion
        self.changes = changes
    }
}

/// The last cursor of a client that pulls.
package enum LastPulledAt: Hashable, Sendable {
    /// It has nothing yet: the first sync.
    case never
    /// The number that the client has stored, at least 1.
    ///
    /// The number may be above `Cursor.maximum`, if the app's earlier server counted nanoseconds, and is cut to
    /// `Int64.max`; `Cursor(rawValue:)` is nil then, and the number must be treated as an unknown cursor.
    case cursor(Int64)
}
