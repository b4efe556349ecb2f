// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What a stream line turned out to be.
///
/// Tables and columns are named by their places in the schema, all versions counted. Ranges are in the output, where
/// the projector wrote the record, id or value.
package enum LineResult: Hashable, Sendable {
    /// A record; the range is `{"id":"…",…}`. What the ledger keeps of it is in ``LineProjector/content`` and
    /// ``LineProjector/links``.
    case upsert(table: Int, source: Int, id: IDHash, range: Range<Int>)
    /// A record that one source, or with `all` every source, no longer has; the range is the id as a JSON string.
    case delete(table: Int, source: Int, all: Bool, id: IDHash, range: Range<Int>)
    /// Every record whose column has a value; the range is the value as a record of the table would have it.
    ///
    /// `link` is the column's place in `Table.links`, and `digest` what a record with this value has there, never 0.
    case deleteWhere(table: Int, source: Int, column: Int, link: Int, digest: UInt64, range: Range<Int>)
    /// A token and nothing else.
    case ackOnly
    /// Which id the backend has given to a record; it is in ``LineProjector/idMapping``.
    case idMapping
    /// The stream is complete.
    case complete
    /// The backend demands a reset; its token is in ``LineProjector/resetToken``, not among the received ones.
    case reset
    /// A type that the configuration does not name, or that belongs to a table that the client does not have.
    case unknownType
    /// A line that cannot be delivered; what is known of it is in ``LineProjector/quarantined``, and the scope tells
    /// which records it may have carried.
    case quarantined(QuarantinedLine.Reason, scope: QuarantineScope)
}
