// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Changes that are made together or not at all, and only if what they are based on is still there.
package struct RowChanges: Sendable {
    /// The versions that heads must have for the changes to be made, 0 for a head that must not be there.
    ///
    /// A replica that is written with 0 must not be there under any owner.
    package var expected: [RowKey: Int64] = [:]
    /// The rows to write; nil for those to delete.
    package var rows: [RowKey: ByteRow?] = [:]
    /// The rows to add; the changes are refused if one of them is there.
    package var added: [ByteRow] = []
    /// The rows to add; one that is there keeps its number, and gets the sum of the versions, the greater rank, and the
    /// new bytes.
    package var counted: [ByteRow] = []
    /// The chunks to write, by their numbers.
    package var chunks: [Int64: [UInt8]] = [:]
    /// The numbers of the chunks to delete.
    package var freedChunks: [Int64] = []
    /// The amounts by which numbers of rows rise, whatever they are; a row that is missing counts as 0.
    package var increments: [RowKey: Int64] = [:]
    /// The least numbers that rows have afterwards.
    package var floors: [RowKey: Int64] = [:]
    /// The lease under which the changes are made; they fail if it has passed on.
    package var lease: Lease?
    /// True if the changes are durable when the commit returns; false if the next durable commit may make them so.
    package var isDurable = true

    /// Creates changes that change nothing.
    package init() {}

    /// True if nothing is written.
    package var isEmpty: Bool {
        rows.isEmpty && added.isEmpty && counted.isEmpty && chunks.isEmpty && freedChunks.isEmpty && increments.isEmpty
            && floors.isEmpty && lease?.isGivenBack != true
    }
}
