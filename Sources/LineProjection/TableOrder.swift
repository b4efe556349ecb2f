// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The order in which tables are processed: parents before their children.
///
/// The descendants of a deleted parent can then be found in one pass. Tables that are each other's parents, and a table
/// that is its own, form a cycle, in which one pass is not enough.
package struct TableOrder: Hashable, Sendable {
    /// The table's index in the schema, by rank.
    package let order: [Int]
    /// The table's rank, by its index in the schema.
    package let rank: [Int]
    /// The ranks of each cycle, side by side; a table that names itself as parent is a cycle of its own.
    package let cycles: [Range<Int>]

    /// Creates the order of the tables of a schema; as in the schema if parents allow it.
    ///
    /// A parent that is no table is ignored.
    ///
    /// - Parameters:
    ///   - tables: The tables.
    ///   - countsReferences: True if a table that a `ref` column names is a parent, too: a record that a push creates
    ///     must exist before anything refers to it.
    package init(_ tables: [Table], countsReferences: Bool = false) {
        var search = CycleSearch(tables, countsReferences: countsReferences)
        for place in tables.indices { search.visit(place) }
        order = search.order
        cycles = search.cycles
        var rank = Array(repeating: 0, count: tables.count)
        for (number, place) in order.enumerated() { rank[place] = number }
        self.rank = rank
    }

    /// Returns the cycle that a rank belongs to; nil for most.
    package func cycle(of rank: Int) -> Range<Int>? { cycles.first { $0.contains(rank) } }
}

/// Tarjan's search for strongly connected groups (1972), which finds each group after all groups that it leads to.
private struct CycleSearch {
    private(set) var order: [Int] = []
    private(set) var cycles: [Range<Int>] = []

    /// The indexes of each table's parents, by the table's index.
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

    /// Visits a table after its parents; the recursion goes as deep as the longest line of parents in the
    /// configuration.
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
