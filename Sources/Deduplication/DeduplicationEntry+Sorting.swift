// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension DeduplicationEntry {
    /// Puts entries into the order of ``precedes(_:_:)``.
    ///
    /// The ids are keyed hashes, spread evenly whatever the ids are. So entries are first dealt out by table and by the
    /// leading bits of the hash, with room for a few in each pile, and what is left to sort is short.
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
            // Every pile now ends where its count has been used up.
            var start = 0
            for end in ends.dropLast() where Int(end) > start {
                if Int(end) - start > 1 { sortPile(UnsafeMutableBufferPointer(rebasing: sorted[start..<Int(end)])) }
                start = Int(end)
            }
        }
    }

    /// Sorts what is short in place; piles are longer only where one record comes again and again.
    private static func sortPile(_ pile: UnsafeMutableBufferPointer<Self>) {
        guard pile.count <= 16 else {
            var pile = pile
            return pile.sort(by: precedes)
        }
        for place in 1..<pile.count where precedes(pile[place], pile[place &- 1]) {
            let entry = pile[place]
            var hole = place
            repeat {
                pile[hole] = pile[hole &- 1]
                hole &-= 1
            } while hole > 0 && precedes(entry, pile[hole &- 1])
            pile[hole] = entry
        }
    }
}

/// Into how many piles the entries of each table are dealt.
private struct Piles {
    /// By table, its first pile, and how far the hash is shifted to number the others.
    private var tables: [(first: Int, shift: UInt64)] = []
    private var count = 0

    init(of entries: [DeduplicationEntry]) {
        var counts: [Int] = []
        for entry in entries {
            let table = Int(entry.table)
            if table >= counts.count { counts += Array(repeating: 0, count: table + 1 - counts.count) }
            counts[table] += 1
        }
        tables.reserveCapacity(counts.count)
        for entries in counts {
            // Between two and four entries a pile.
            let bits = entries < 4 ? 0 : Int.bitWidth - 2 - entries.leadingZeroBitCount
            tables.append((first: count, shift: UInt64(63 - bits)))
            count += entries == 0 ? 0 : 1 << bits
        }
    }

    /// The pile of an entry.
    @inline(__always)
    func pile(of entry: DeduplicationEntry) -> Int {
        let table = tables[Int(entry.table)]
        // In two steps, since one of 64 places would be none at all.
        return table.first &+ Int(truncatingIfNeeded: (entry.idHigh &>> 1) &>> table.shift)
    }

    /// Where each pile begins; one more than there are piles, for the end of the last.
    func starts(of entries: [DeduplicationEntry]) -> [Int32] {
        var ends = [Int32](repeating: 0, count: count + 1)
        ends.withUnsafeMutableBufferPointer { ends in
            for entry in entries { ends[pile(of: entry) &+ 1] &+= 1 }
            for pile in 1..<ends.count { ends[pile] &+= ends[pile &- 1] }
        }
        return ends
    }
}
