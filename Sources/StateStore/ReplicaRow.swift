// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// One replica as the operator sees it.
package struct ReplicaRow: Hashable, Sendable {
    /// Its number.
    package var id: ReplicaID
    /// Whose it is.
    package var principal: Principal
    /// Whether it has ever come back with a cursor.
    package var isConfirmed: Bool
    /// When it began, in milliseconds since 1970.
    package var firstSeen: Int64
    /// When it last pulled or pushed, to about a minute, in milliseconds since 1970.
    package var lastSeen: Int64
    /// What it last did.
    package var lastResult: String
    /// Its newest cursor.
    package var newest: Cursor?
    /// The client's schema version at that cursor; nil where it was never told.
    package var schemaVersion: Int?

    /// A row.
    package init(
        id: ReplicaID, principal: Principal, isConfirmed: Bool, firstSeen: Int64, lastSeen: Int64,
        lastResult: String, newest: Cursor?, schemaVersion: Int?
    ) {
        self.id = id
        self.principal = principal
        self.isConfirmed = isConfirmed
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.lastResult = lastResult
        self.newest = newest
        self.schemaVersion = schemaVersion
    }
}
