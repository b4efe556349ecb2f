// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// One line of a stream as de-duplication sees it: its record, its operation and its number in its segment.
///
/// An entry takes 48 bytes in an array. The id as text and the links, if they are kept, lie in the deduplicator's
/// arena.
package struct DeduplicationEntry: Hashable, Sendable, BitwiseCopyable {
    /// The effect of a line on a record.
    package enum Operation: UInt8, Sendable {
        /// Brings the whole row.
        case upsert
        /// Removes the line's own feed.
        case delete
        /// Removes the record, with all of its feeds.
        case deleteAll
    }

    /// The first half of the id's keyed hash.
    package var idHigh: UInt64
    /// The second half of the id's keyed hash.
    package var idLow: UInt64
    /// The number of the line in its pull, which rises with every line.
    package var sequence: UInt64
    /// The hash of the row's content; 0 for deletions, and if no hash is needed.
    package var content: UInt64
    /// The line's number within its segment, from 0.
    package var line: UInt32
    /// The offset of id and links in the arena; in a stored run, the number of bytes that follow the entry.
    var detail: UInt32
    /// The rank of the table.
    package var rank: TableRank
    /// The index of the line's feed in its table.
    package var feed: UInt8
    /// The raw value of the operation, not the enumeration itself: a byte that is read back from a file may have any
    /// value.
    private var operationCode: UInt8

    /// The value of ``detail`` if neither id nor links are kept.
    static let noDetail = UInt32.max

    /// Creates an entry without id and links.
    package init(
        idHigh: UInt64, idLow: UInt64, sequence: UInt64, content: UInt64 = 0, line: UInt32, rank: TableRank,
        feed: UInt8, operation: Operation
    ) {
        self.idHigh = idHigh
        self.idLow = idLow
        self.sequence = sequence
        self.content = content
        self.line = line
        detail = Self.noDetail
        self.rank = rank
        self.feed = feed
        operationCode = operation.rawValue
    }

    /// The effect of the line on its record.
    package var operation: Operation {
        Operation(rawValue: operationCode & ~(Self.addedBit | Self.defaultedBit | Self.orderedBit)) ?? .deleteAll
    }

    /// True if a column that the client has only just got is not at its default.
    ///
    /// Then the device lacks the value, even if an equal row was sent before (finding 24).
    package var bringsAddedColumns: Bool {
        get { operationCode & Self.addedBit != 0 }
        set { operationCode = newValue ? operationCode | Self.addedBit : operationCode & ~Self.addedBit }
    }

    /// True if a default stands in the row for a value that its column could not have.
    package var isDefaulted: Bool {
        get { operationCode & Self.defaultedBit != 0 }
        set { operationCode = newValue ? operationCode | Self.defaultedBit : operationCode & ~Self.defaultedBit }
    }

    /// True if a deletion's token is of the namespace of the table's rows: then it is newer than the rows before it.
    ///
    /// Lines of one namespace are in order (BACKEND-PROTOCOL, 4); between namespaces the order of lines says nothing.
    package var isOrdered: Bool {
        get { operationCode & Self.orderedBit != 0 }
        set { operationCode = newValue ? operationCode | Self.orderedBit : operationCode & ~Self.orderedBit }
    }

    /// The flags in the byte of the operation, whose values are all below them.
    private static let addedBit: UInt8 = 0x80
    private static let defaultedBit: UInt8 = 0x40
    private static let orderedBit: UInt8 = 0x20

    /// The id's keyed hash.
    package var hash: IDHash { IDHash(low: idLow, high: idHigh) }

    /// The line's feed as a set.
    package var feeds: FeedSet { FeedSet(feed: Int(feed)) }

    /// Returns whether an entry comes before another in a run: by the rank of the table, then by record, then as they
    /// came.
    @inline(__always)
    package static func precedes(_ a: Self, _ b: Self) -> Bool {
        if a.rank.rawValue != b.rank.rawValue { return a.rank.rawValue < b.rank.rawValue }
        if a.idHigh != b.idHigh { return a.idHigh < b.idHigh }
        if a.idLow != b.idLow { return a.idLow < b.idLow }
        return a.sequence < b.sequence
    }
}
