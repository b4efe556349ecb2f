// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
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

    /// Passes a scanner before the record's object to `body`.
    ///
    /// The object was validated, so scanning it throws no error; if a member is repeated, the last one counts, and the
    /// members `id`, `_status` and `_changed` are present like any other.
    ///
    /// - Precondition: The record is one of these changes.
    package func withScanner<R, E: Error>(
        of record: PushedRecord, _ body: (inout JSONScanner) throws(E) -> R
    ) throws(E) -> R {
        precondition(record.range.upperBound <= bytes.count, "the record belongs to other changes")
        return try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(E) in
            let object = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[record.range])
            var scanner = unsafe JSONScanner(object, maximumDepth: .max)
            return try body(&scanner)
        }
    }
}
