// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// How the backend wraps a record in a stream line, and the line types that are no records.
package struct EnvelopeRules: Hashable, Sendable {
    /// The member that holds the line's type.
    package var typeField = "type"
    /// The member that holds the ack token.
    package var ackField = "ack"
    /// The member that holds the record or the key of a deleted one.
    package var dataField = "data"
    /// The type that ends a stream; nil where the backend has none.
    package var completeType: String? = "SyncCompleteV1"
    /// The type that demands a reset; nil where the backend has none.
    package var resetType: String? = "SyncResetV1"
    /// The types that carry a token and no data.
    package var ackOnlyTypes = ["SyncAckV1"]
    /// Lines that tell which ids the backend has given to records; nil where there are none.
    package var idMap: IDMap?
    /// How deep a line may be nested.
    package var depthLimit = 128

    /// The rules of a backend that follows the stream protocol to the letter.
    package init() {}

    /// Lines that tell which id the backend has given to a record that a client has made.
    package struct IDMap: Hashable, Sendable {
        /// Their type.
        package var type: String
        /// The members of their data that hold the client's table, the client's id and the backend's.
        package var members: [String]

        /// Lines of this type, with the names of their members.
        package init(type: String, table: String, client: String, backend: String) {
            self.type = type
            members = [table, client, backend]
        }
    }
}
