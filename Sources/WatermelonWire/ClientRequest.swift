// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A client's request, independent of the form in which it was sent.
package enum ClientRequest: Sendable {
    case pull(PullRequest)
    case push(PushRequest)
}

/// A request for the changes since the client's last pull.
package struct PullRequest: Hashable, Sendable {
    /// The point that the client has reached.
    package var lastPulledAt: LastPulledAt
    /// The version of the client's schema; nil if it is not stated, as in two thirds of apps.
    package var schemaVersion: Int?
    /// The tables and columns that the client's schema has gained since its last sync; nil if it is not stated.
    package var migration: Migration?

    /// Creates a pull.
    package init(lastPulledAt: LastPulledAt, schemaVersion: Int? = nil, migration: Migration? = nil) {
        self.lastPulledAt = lastPulledAt
        self.schemaVersion = schemaVersion
        self.migration = migration
    }
}

/// A request with the changes that were made in the client.
package struct PushRequest: Sendable {
    /// The cursor of the pull before the push; nil if it is not stated, as in a third of apps.
    ///
    /// Like ``LastPulledAt/cursor(_:)``, it may be a number that no gateway ever handed out.
    package var lastPulledAt: Int64?
    /// The version of the client's schema; nil if it is not stated.
    package var schemaVersion: Int?
    /// The pushed records.
    package var changes: PushChanges

    /// Creates a push.
    package init(lastPulledAt: Int64?, schemaVersion: Int? = nil, changes: PushChanges) {
        self.lastPulledAt = lastPulledAt
        self.schemaVersion = schemaVersion
        self.changes = changes
    }
}

/// The point that a pulling client has reached.
package enum LastPulledAt: Hashable, Sendable {
    /// The client has nothing yet: this is its first sync.
    case never
    /// The number that the client keeps, at least 1.
    ///
    /// The number may be above `Cursor.maximum` (in an app that comes from a server that counts nanoseconds), and is
    /// cut to `Int64.max`; `Cursor(rawValue:)` is nil then, and the number is to be treated as an unknown cursor.
    case cursor(Int64)
}
