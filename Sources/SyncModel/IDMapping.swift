// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The two ids of a record that a client has created and the backend has given an id of its own.
package struct IDMapping: Hashable, Sendable {
    /// The client's table.
    package var table: String
    /// The id that the client has made.
    package var clientID: String
    /// The backend's id for the record, as text; the parts of a composite id are joined as in streamed records.
    package var backendID: String
    /// True if the client's id may be one that the backend has given before: pulls never contain it.
    package var mayBeBackends: Bool
    /// Creates a mapping.
    package init(table: String, clientID: String, backendID: String, mayBeBackends: Bool = false) {
        self.table = table
        self.clientID = clientID
        self.backendID = backendID
        self.mayBeBackends = mayBeBackends
    }
}
