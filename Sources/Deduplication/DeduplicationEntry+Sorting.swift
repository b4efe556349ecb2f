// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection

extension DeduplicationEntry {
    /// Sorts entries into the order of ``precedes(_:_:)``.
    ///
    /// The ids are keyed hashes, which are spread evenly for any ids. So entries are first dealt out by table and by
    /// the leading bits of the hash, into piles of a few entries each, and only the short piles remain to be sorted.
    static func sort(_ entries: inout [Self]) {
        guard entries.count > 256 else { return entries.sort(by: precedes) }
        let piles = Piles(of: entries)
        var ends = piles.starts(of: entries)
        entries = [Self](unsafeUninitializedCapacity: entries.count) { sorted, count in
            entries.withUnsafeBufferPointer { entries in
                ends.withUnsafeMutableBufferPointer { ends in
                    for entry in entries {
                        let pile = piles.pile(of: entry)
                        sorted.initializeElement(at: Int(ends[pile]), to: entry)
                        ends[pile] &+= 1
                    }
                }
            }
            count = entries.count
            // Each element of `ends` is now the end of its pile.
            var start = 0
            for end in ends.dropLast() where Int(end) > start {
                if Int(end) - start > 1 { sortPile(UnsafeMutableBufferPointer(rebasing: sorted[start..<Int(end)])) }
                start = Int(end)
            }
        }
    }

    /// Sorts a short pile in place; a pile is long only if one record comes again and again.
    private static func sortPile(_ pile: UnsafeMutableBufferPointer<Self>) {
        guard pile.count <= 16 else {
            var pile = pile
            return pile.sort(by: precedes)
        }
        for index in 1..<pile.count where precedes(pile[index], pile[index &- 1]) {
            let entry = pile[index]
            var hole = index
            repeat {
                pile[hole] = pile[hole &- 1]
                hole &-= 1
            } while hole > 0 && precedes(entry, pile[hole &- 1])
            pile[hole] = entry
        }
    }
}

/// The division of each table's entries into piles.
private struct Piles {
    /// The number of each table's first pile, and the shift of the hash that numbers the others.
    private var tables: [(first: Int, shift: UInt64)] = []
    private var count = 0

    init(of entries: [DeduplicationEntry]) {
        var counts: [Int] = []
        for entry in entries {
            let rank = Int(entry.rank.rawValue)
            if rank >= counts.count { counts += Array(repeating: 0, count: rank + 1 - counts.count) }
            counts[rank] += 1
        }
        tables.reserveCapacity(counts.count)
        for entries in counts {
            // Two to four entries for each pile.
            let bits = entries < 4 ? 0 : Int.bitWidth - 2 - entries.leadingZeroBitCount
            tables.append((first: count, shift: UInt64(63 - bits)))
            count += entries == 0 ? 0 : 1 << bits
        }
    }

    /// Returns the pile of an entry.
    @inline(__always)
    func pile(of entry: DeduplicationEntry) -> Int {
        let table = tables[Int(entry.rank.rawValue)]
        // In two steps, since a single shift by 64 bits would shift by none.
        return table.first &+ Int(truncatingIfNeeded: (entry.idHigh &>> 1) &>> table.shift)
    }

    /// Returns the index at which each pile begins, and behind them the end of the last pile.
    func starts(of entries: [DeduplicationEntry]) -> [Int32] {
        var ends = [Int32](repeating: 0, count: count + 1)
        ends.withUnsafeMutableBufferPointer { ends in
            for entry in entries { ends[pile(of: entry) &+ 1] &+= 1 }
            for pile in 1..<ends.count { ends[pile] &+= ends[pile &- 1] }
        }
        return ends
    }
}
