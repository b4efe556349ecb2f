// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One line of a stream as compaction sees it: which record, what happened, and where its bytes lie.
package struct CompactionEntry: Hashable, Sendable {
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
    /// Where the bytes begin, counted from the start of their segment.
    package var position: UInt64
    /// How many bytes there are, the leading comma included.
    package var length: UInt32
    /// The table's place in the projection.
    package var table: UInt16
    /// The feed that the line belongs to.
    package var source: UInt8
    /// What happened.
    package var operation: Operation

    /// An entry.
    package init(
        idHigh: UInt64, idLow: UInt64, sequence: UInt64, position: UInt64, length: UInt32, table: UInt16, source: UInt8,
        operation: Operation
    ) {
        self.idHigh = idHigh
        self.idLow = idLow
        self.sequence = sequence
        self.position = position
        self.length = length
        self.table = table
        self.source = source
        self.operation = operation
    }

    /// Whether both entries are about one record.
    ///
    /// Two different ids with one 128-bit keyed hash would be taken for one record; among a thousand million ids that
    /// has a chance of 1 to 10^20.
    package func isSameRecord(as other: Self) -> Bool {
        idHigh == other.idHigh && idLow == other.idLow && table == other.table
    }

    /// The order of runs: records together, in each the lines as they came.
    package static func precedes(_ a: Self, _ b: Self) -> Bool {
        if a.idHigh != b.idHigh { return a.idHigh < b.idHigh }
        if a.idLow != b.idLow { return a.idLow < b.idLow }
        if a.table != b.table { return a.table < b.table }
        return a.sequence < b.sequence
    }

    /// Puts entries into the order of ``precedes(_:_:)``.
    ///
    /// The ids are keyed hashes, spread evenly whatever the ids are. So entries are first dealt out by their leading
    /// bits, with room for a few in each pile, and what is left to sort is short.
    static func sort(_ entries: inout [Self]) {
        guard entries.count > 256 else { return entries.sort(by: precedes) }
        // Between two and four entries a pile.
        let bits = Int.bitWidth - 1 - entries.count.leadingZeroBitCount - 1
        let shift = UInt64(64 - bits)
        var ends = [Int32](repeating: 0, count: (1 << bits) + 1)
        for entry in entries { ends[Int(entry.idHigh >> shift) + 1] += 1 }
        for pile in 1..<ends.count { ends[pile] += ends[pile - 1] }
        entries = [Self](unsafeUninitializedCapacity: entries.count) { sorted, count in
            for entry in entries {
                let pile = Int(entry.idHigh >> shift)
                sorted.initializeElement(at: Int(ends[pile]), to: entry)
                ends[pile] += 1
            }
            count = entries.count
            // Every pile now ends where its count has been used up.
            var start = 0
            for end in ends.dropLast() where Int(end) > start {
                if Int(end) - start > 1 { sorted[start..<Int(end)].sort(by: precedes) }
                start = Int(end)
            }
        }
    }
}
