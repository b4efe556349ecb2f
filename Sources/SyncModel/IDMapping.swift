// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A record that a client has made and to which the backend has given an id of its own.
package struct IDMapping: Hashable, Sendable {
    /// The client's table.
    package var table: String
    /// The id that the client has made.
    package var clientID: String
    /// The id by which the backend knows it, as text; the parts of a composite one joined as those of streamed records.
    package var backendID: String
    /// Whether the client's id may be one that the backend has given before: pulls never say it.
    package var mayBeBackends: Bool
    /// A mapping.
    package init(table: String, clientID: String, backendID: String, mayBeBackends: Bool = false) {
        self.table = table
        self.clientID = clientID
        self.backendID = backendID
        self.mayBeBackends = mayBeBackends
    }
}
