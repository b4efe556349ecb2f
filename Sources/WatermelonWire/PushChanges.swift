// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import SyncModel

/// The records of one push, lying in the bytes of its body.
///
/// Nothing of a record is decoded but its id: what a push costs in memory is its body and its ids.
package struct PushChanges: Sendable {
    /// The validated JSON that the records lie in: the request's body, or what a JSON string in it contained.
    package let bytes: [UInt8]
    /// The tables in the order of the body: every table that it names, empty and unknown ones included.
    package let tables: [PushedTable]

    /// The number of records and deletions in all tables.
    package var recordCount: Int { tables.reduce(0) { $0 + $1.count } }

    /// Changes that were validated before; `bytes` holds every record of the tables.
    package init(bytes: [UInt8], tables: [PushedTable]) {
        self.bytes = bytes
        self.tables = tables
    }

    /// Gives a scanner that stands before the record's object.
    ///
    /// The object was validated, so scanning it throws no error; a member that repeats counts as the last one, and the
    /// members `id`, `_status` and `_changed` are there like any other.
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
