// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The descendants of deleted records in tables that are each other's parents: links are gathered in one walk and
/// followed in memory.
///
/// A table of replies may be nested as deep as it has records; one walk for each generation would never end.
struct CycleDescent {
    /// The number of records that can be followed, at 24 bytes each.
    static let maximum = 1 << 20

    /// A record that exists unless its parent is gone, with that parent.
    struct Pair {
        var parent: UInt64
        var child: UInt64
        /// The number of the stream line that brought the child; 0 if none did.
        var sequence: UInt64
    }

    /// The two tables of a pair, by index in the schema.
    private struct Edge: Hashable {
        var parent: Int
        var child: Int
    }

    private var pairs: [Edge: [Pair]] = [:]
    private var count = 0
    /// True if there were more than the maximum; then nothing can be followed.
    private(set) var hasOverflowed = false
    private let tables: Set<Int>
    private let maximum: Int

    /// Creates a descent that follows parents in these tables only; parents in other tables are dealt with before.
    init(within tables: Set<Int> = [], maximum: Int = Self.maximum) {
        self.tables = tables
        self.maximum = maximum
    }

    /// Notes that a record of one table names a record of another table, or of the same one, as its parent.
    mutating func add(_ pair: Pair, from parent: Int, to child: Int) {
        guard pair.parent != 0, tables.contains(parent) else { return }
        guard count < maximum else {
            hasOverflowed = true
            return
        }
        count += 1
        pairs[Edge(parent: parent, child: child), default: []].append(pair)
    }

    /// Sorts the pairs by parent; call it once, before ``follow(_:keeping:)``.
    mutating func sort() {
        // The keys are copied so that the arrays need not be.
        for edge in Array(pairs.keys) { pairs[edge]?.sort { $0.parent < $1.parent } }
    }

    /// Adds all descendants of the records that are gone, at any depth.
    ///
    /// Each record is visited once for every kind of departure, and departures only become later and more certain.
    ///
    /// - Parameters:
    ///   - moved: The records that are gone by themselves; afterwards, all that are gone.
    ///   - kept: Tables whose records stay unless a line says that they or their parents are gone.
    func follow(_ moved: inout MovedParents, keeping kept: Set<Int>) {
        guard !hasOverflowed else { return }
        var work: [(table: Int, link: UInt64)] = []
        for table in Set(pairs.keys.map(\.parent)) {
            for link in (moved.returned[table] ?? [:]).keys {
                let missing = RecordVerdict.Departure(isAbsent: true)
                descend(from: table, by: link, missing, moved: &moved, keeping: kept, work: &work)
            }
            for link in (moved.gone[table] ?? [:]).keys { work.append((table, link)) }
        }
        while let (table, link) = work.popLast() {
            guard let departure = moved.gone[table]?[link] else { continue }
            descend(from: table, by: link, departure, moved: &moved, keeping: kept, work: &work)
        }
    }

    /// Follows one record to its children.
    private func descend(
        from table: Int, by link: UInt64, _ departure: RecordVerdict.Departure, moved: inout MovedParents,
        keeping kept: Set<Int>, work: inout [(table: Int, link: UInt64)]
    ) {
        for (edge, pairs) in pairs where edge.parent == table {
            if departure.isAbsent, kept.contains(edge.child) { continue }
            var index = Self.firstIndex(of: link, in: pairs)
            while index < pairs.count, pairs[index].parent == link {
                let pair = pairs[index]
                index += 1
                guard departure.takesAlong(pair.sequence) else { continue }
                if moved.end(pair.child, of: edge.child, departure) != nil { work.append((edge.child, pair.child)) }
            }
        }
    }

    private static func firstIndex(of link: UInt64, in pairs: [Pair]) -> Int {
        var (low, high) = (0, pairs.count)
        while low < high {
            let middle = (low + high) / 2
            if pairs[middle].parent < link { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
