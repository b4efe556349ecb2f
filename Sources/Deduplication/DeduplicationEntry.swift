// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// One line of a stream as de-duplication sees it: which record, what happened, and which line of its segment it is.
///
/// 48 bytes in an array. What else is kept of a line, its id as text and its links, lies in the deduplicator's arena.
package struct DeduplicationEntry: Hashable, Sendable, BitwiseCopyable {
    /// What a line does to a record.
    package enum Operation: UInt8, Sendable {
        /// Brings the whole row.
        case upsert
        /// Takes the line's own source away.
        case delete
        /// Takes the record away whatever sources it had.
        case deleteAll
    }

    /// The first half of the id's keyed hash.
    package var idHigh: UInt64
    /// The second half.
    package var idLow: UInt64
    /// Rises with every line of the pull.
    package var sequence: UInt64
    /// The hash of the row's content; 0 for deletions, and where nobody needs it.
    package var content: UInt64
    /// The line's number within its segment, from 0.
    package var line: UInt32
    /// Where the arena holds id and links, while the entry is in memory; in a stored run, how many bytes follow it.
    var detail: UInt32
    /// The rank of the table (``TableOrder``).
    package var table: UInt16
    /// The feed that the line belongs to.
    package var source: UInt8
    /// Not the enumeration itself: what comes back from a file may be anything.
    private var operationCode: UInt8

    /// The value of ``detail`` where nothing is kept of id and links.
    static let noDetail = UInt32.max

    /// An entry.
    package init(
        idHigh: UInt64, idLow: UInt64, sequence: UInt64, content: UInt64 = 0, line: UInt32, table: UInt16,
        source: UInt8, operation: Operation
    ) {
        self.idHigh = idHigh
        self.idLow = idLow
        self.sequence = sequence
        self.content = content
        self.line = line
        detail = Self.noDetail
        self.table = table
        self.source = source
        operationCode = operation.rawValue
    }

    /// What happened.
    package var operation: Operation { Operation(rawValue: operationCode & ~Self.addedBit) ?? .deleteAll }

    /// Whether a column that the client has only just got is not at its default: then the device lacks the value, even
    /// if an equal row was sent before (finding 24).
    package var bringsAddedColumns: Bool {
        get { operationCode & Self.addedBit != 0 }
        set { operationCode = newValue ? operationCode | Self.addedBit : operationCode & ~Self.addedBit }
    }

    /// In the byte of the operation, whose values are all below it.
    private static let addedBit: UInt8 = 0x80

    /// The id's keyed hash.
    package var hash: IDHash { IDHash(low: idLow, high: idHigh) }

    /// The line's feed as a bit of a mask of sources.
    ///
    /// A table has at most 64 feeds; were there more, the last ones would share a bit.
    package var sourceBit: UInt64 { 1 << UInt64(min(source, 63)) }

    /// Whether both entries are about one record.
    package func isSameRecord(as other: Self) -> Bool {
        idHigh == other.idHigh && idLow == other.idLow && table == other.table
    }

    /// The order of runs: tables by rank, in each the records together, in each record the lines as they came.
    @inline(__always)
    package static func precedes(_ a: Self, _ b: Self) -> Bool {
        if a.table != b.table { return a.table < b.table }
        if a.idHigh != b.idHigh { return a.idHigh < b.idHigh }
        if a.idLow != b.idLow { return a.idLow < b.idLow }
        return a.sequence < b.sequence
    }
}
