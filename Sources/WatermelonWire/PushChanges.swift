// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The records of one push, lying in the bytes of its body.
///
/// Of a record only the id is decoded: a push takes no more memory than its body and its ids.
package struct PushChanges: Sendable {
    /// The validated JSON that contains the records: the request's body, or the content of a JSON string in it.
    package let bytes: [UInt8]
    /// All tables that the body names, in its order, including empty and unknown ones.
    package let tables: [PushedTable]

    /// The number of records and deletions in all tables.
    package var recordCount: Int { tables.reduce(0) { $0 + $1.count } }

    /// Creates changes that were validated before; `bytes` must hold every record of the tables.
    package init(bytes: [UInt8], tables: [PushedTable]) {
        self.bytes = bytes
        self.tables = tables
    }
}
