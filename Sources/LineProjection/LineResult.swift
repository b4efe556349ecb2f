// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The kind of a stream line, with its contents.
///
/// Tables and columns are named by their indexes in the schema, all versions counted. Ranges are in the output to which
/// the projector wrote the record, id or value.
package enum LineResult: Hashable, Sendable {
    /// A record; the range is `{"id":"…",…}`.
    ///
    /// The hash and links for the ledger are in ``LineProjector/content`` and ``LineProjector/links``.
    case upsert(table: Int, feed: Int, id: IDHash, range: Range<Int>)
    /// A record that one feed, or with `all` every feed, no longer has; the range is the id as a JSON string.
    case delete(table: Int, feed: Int, all: Bool, id: IDHash, range: Range<Int>)
    /// A deletion of every record whose column has a value; the range is the value as a record of the table would have
    /// it.
    ///
    /// `link` is the column's index in `Table.links`, and `digest` the digest that a record with this value has there,
    /// never 0.
    case deleteWhere(table: Int, feed: Int, column: Int, link: Int, digest: UInt64, range: Range<Int>)
    /// A token and no data.
    case ackOnly
    /// An id that the backend has given to a record; the mapping is in ``LineProjector/idMapping``.
    case idMapping
    /// The complete line, which ends the stream.
    case complete
    /// A demand of the backend for a reset; its token is in ``LineProjector/resetToken``, not among the received ones.
    case reset
    /// A line of a type that the configuration does not name, or whose table the client does not have.
    case unknownType
    /// A line that cannot be delivered; the scope tells which records it may have carried.
    ///
    /// The known facts about the line are in ``LineProjector/quarantined``.
    case quarantined(QuarantinedLine.Reason, scope: QuarantineScope)
}
