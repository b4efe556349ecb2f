// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A record that another one refers to.
package struct PushReference: Hashable, Sendable {
    /// The table's index in the schema.
    package var table: Int
    /// The record's id as the client has it.
    package var id: String
    /// Creates a reference.
    package init(table: Int, id: String) {
        self.table = table
        self.id = id
    }
}

/// One record of a push, in the order in which it is applied.
package struct PushOperation: Hashable, Sendable {
    /// The change that the client made.
    package var kind: OperationKind
    /// The table's index in the schema.
    package var table: Int
    /// The record's id as the client has it.
    package var id: String
    /// The range of the record's object in the request body; nil for a deletion.
    package var range: Range<Int>?

    /// Creates an operation.
    package init(kind: OperationKind, table: Int, id: String, range: Range<Int>?) {
        self.kind = kind
        self.table = table
        self.id = id
        self.range = range
    }
}
