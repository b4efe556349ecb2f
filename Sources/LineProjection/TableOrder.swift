// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The order in which tables are looked at: parents before their children.
///
/// Whatever goes along with a deleted parent can then be decided in one pass. Tables that are each other's parents, and
/// one that is its own, form a cycle; there one pass is not enough.
package struct TableOrder: Hashable, Sendable {
    /// By rank, the table's place in the schema.
    package let order: [Int]
    /// By the table's place in the schema, its rank.
    package let rank: [Int]
    /// The ranks of each cycle, side by side; a table that names itself as parent is one of its own.
    package let cycles: [Range<Int>]

    /// The order of the tables of a schema; as in the schema where parents allow it.
    ///
    /// A parent that is no table counts for nothing.
    ///
    /// - Parameters:
    ///   - tables: The tables.
    ///   - countsReferences: Whether a table that a `ref` column names is a parent, too: what a push creates must
    ///   be there before anything refers to it.
    package init(_ tables: [Table], countsReferences: Bool = false) {
        var search = CycleSearch(tables, countsReferences: countsReferences)
        for place in tables.indices { search.visit(place) }
        order = search.order
        cycles = search.cycles
        var rank = Array(repeating: 0, count: tables.count)
        for (number, place) in order.enumerated() { rank[place] = number }
        self.rank = rank
    }

    /// The cycle that a rank belongs to; nil for most.
    package func cycle(of rank: Int) -> Range<Int>? { cycles.first { $0.contains(rank) } }
}

/// Tarjan's search for strongly connected groups (1972), which finds each group after everything that it leads to.
private struct CycleSearch {
    private(set) var order: [Int] = []
    private(set) var cycles: [Range<Int>] = []

    /// By place, the places of its parents.
    private let parents: [[Int]]
    private var numbers: [Int?]
    private var lowest: [Int]
    private var isOpen: [Bool]
    private var open: [Int] = []
    private var next = 0

    init(_ tables: [Table], countsReferences: Bool) {
        var places: [String: Int] = [:]
        for (place, table) in tables.enumerated() where places[table.name] == nil { places[table.name] = place }
        parents = tables.map { table in
            let references = countsReferences ? table.columns.compactMap(\.reference) : []
            return (table.parents.map(\.table) + references).compactMap { places[$0] }
        }
        numbers = Array(repeating: nil, count: tables.count)
        lowest = Array(repeating: 0, count: tables.count)
        isOpen = Array(repeating: false, count: tables.count)
    }

    /// Goes as deep as the longest line of parents in the configuration.
    mutating func visit(_ place: Int) {
        guard numbers[place] == nil else { return }
        let number = next
        next += 1
        numbers[place] = number
        lowest[place] = number
        open.append(place)
        isOpen[place] = true
        for parent in parents[place] {
            if let known = numbers[parent] {
                if isOpen[parent] { lowest[place] = min(lowest[place], known) }
            } else {
                visit(parent)
                lowest[place] = min(lowest[place], lowest[parent])
            }
        }
        if lowest[place] == number { close(place) }
    }

    /// Ends the group whose first table was `place`.
    private mutating func close(_ place: Int) {
        guard let start = open.lastIndex(of: place) else { return }
        let group = open[start...].sorted()
        open.removeSubrange(start...)
        for member in group { isOpen[member] = false }
        if group.count > 1 || parents[place].contains(place) {
            cycles.append(order.count..<order.count + group.count)
        }
        order += group
    }
}
