// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A record that another one refers to.
package struct PushReference: Hashable, Sendable {
    /// The table's place in the schema.
    package var table: Int
    /// The record's id as the client has it.
    package var id: String
    /// A reference.
    package init(table: Int, id: String) {
        self.table = table
        self.id = id
    }
}

/// One record of a push, in the order in which it is applied.
package struct PushOperation: Hashable, Sendable {
    /// What the client did.
    package enum Kind: String, Sendable {
        case create, update, delete
    }

    /// What the client did.
    package var kind: Kind
    /// The table's place in the schema.
    package var table: Int
    /// The record's id as the client has it.
    package var id: String
    /// Where the record's object stands in the request body; nil for a deletion.
    package var range: Range<Int>?

    /// An operation.
    package init(kind: Kind, table: Int, id: String, range: Range<Int>?) {
        self.kind = kind
        self.table = table
        self.id = id
        self.range = range
    }
}
