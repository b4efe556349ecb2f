// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The backend's way of wrapping a record in a stream line, and the line types that are not records.
package struct EnvelopeRules: Hashable, Sendable {
    /// The member that holds the line's type.
    package var typeField = "type"
    /// The member that holds the ack token.
    package var ackField = "ack"
    /// The member that holds the record or the key of a deleted one.
    package var dataField = "data"
    /// The type that ends a stream; nil if the backend has none.
    package var completeType: String? = "SyncCompleteV1"
    /// The type that demands a reset; nil if the backend has none.
    package var resetType: String? = "SyncResetV1"
    /// The types that carry a token and no data.
    package var ackOnlyTypes = ["SyncAckV1"]
    /// The lines that tell which ids the backend has given to records; nil if there are none.
    package var idMap: IDMap?
    /// The number of levels to which a line may be nested.
    package var depthLimit = 128

    /// Creates the rules of a backend that follows the stream protocol to the letter.
    package init() {}

    /// Lines that tell which id the backend has given to a record that a client has made.
    package struct IDMap: Hashable, Sendable {
        /// The type of the lines.
        package var type: String
        /// The three members of the lines' data: the client's table, the client's id and the backend's id, in this
        /// order.
        package var members: [String]

        /// Creates a rule for lines of this type, with the names of their members.
        package init(type: String, table: String, client: String, backend: String) {
            self.type = type
            members = [table, client, backend]
        }
    }
}
