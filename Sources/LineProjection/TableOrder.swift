// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Numbers a table by its turn: a parent has a lower rank than its children, unless they form a cycle.
package struct TableRank: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The number, from 0.
    package let rawValue: UInt16

    /// Creates a rank.
    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Returns whether both are the same.
    @inlinable
    package static func == (a: TableRank, b: TableRank) -> Bool { a.rawValue == b.rawValue }

    /// Returns whether the first table comes before the second.
    @inlinable
    package static func < (a: TableRank, b: TableRank) -> Bool { a.rawValue < b.rawValue }
}

/// The order in which tables are processed: parents before their children.
///
/// The descendants of a deleted parent can then be found in one pass. Tables that are each other's parents, and a table
/// that is its own, form a cycle, in which one pass is not enough.
package struct TableOrder: Hashable, Sendable {
    /// The table's index in the schema, by rank.
    package let order: [Int]
    /// The table's rank, by its index in the schema.
    package let rank: [TableRank]
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
        for index in tables.indices { search.visit(index) }
        order = search.order
        cycles = search.cycles
        var rank = Array(repeating: TableRank(rawValue: 0), count: tables.count)
        for (number, index) in order.enumerated() { rank[index] = TableRank(rawValue: UInt16(number)) }
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
        var indices: [String: Int] = [:]
        for (index, table) in tables.enumerated() where indices[table.name] == nil { indices[table.name] = index }
        parents = tables.map { table in
            let references = countsReferences ? table.columns.compactMap(\.reference) : []
            return (table.parents.map(\.table) + references).compactMap { indices[$0] }
        }
        numbers = Array(repeating: nil, count: tables.count)
        lowest = Array(repeating: 0, count: tables.count)
        isOpen = Array(repeating: false, count: tables.count)
    }

    /// Visits a table after its parents; the recursion goes as deep as the longest line of parents in the
    /// configuration.
    mutating func visit(_ index: Int) {
        guard numbers[index] == nil else { return }
        let number = next
        next += 1
        numbers[index] = number
        lowest[index] = number
        open.append(index)
        isOpen[index] = true
        for parent in parents[index] {
            if let known = numbers[parent] {
                if isOpen[parent] { lowest[index] = min(lowest[index], known) }
            } else {
                visit(parent)
                lowest[index] = min(lowest[index], lowest[parent])
            }
        }
        if lowest[index] == number { close(index) }
    }

    /// Ends the group whose first table was `index`.
    private mutating func close(_ index: Int) {
        guard let start = open.lastIndex(of: index) else { return }
        let group = open[start...].sorted()
        open.removeSubrange(start...)
        for member in group { isOpen[member] = false }
        if group.count > 1 || parents[index].contains(index) {
            cycles.append(order.count..<order.count + group.count)
        }
        order += group
    }
}
