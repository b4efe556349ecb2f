// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
package import SyncModel

/// A search for the descendants of the records that a client deletes, for tables with `cascade = gateway`.
///
/// Descendants are found by `parent`, as the client's ledger has it, at any depth: a record that was found counts as
/// deleted itself if its own table cascades. The search reads the whole ledger of every table below a deleted record:
/// once, or twice in tables that are each other's parents.
package struct DescendantSearch {
    /// The reason why a search failed.
    package enum Failure: Error {
        /// There are more descendants than one push may delete.
        case tooMany
    }

    /// The most descendants that one push may delete.
    package static let maximum = 50_000

    /// A record and the parent that it names.
    private struct Pair {
        var parentTable: Int
        var parent: UInt64
        var childTable: Int
        var child: UInt64
    }

    private let held: HeldRecords
    private let maximum: Int
    private let maximumPairs: Int
    private let order: TableOrder
    /// The cascading tables that a link leads to, by table and link.
    private let parents: [[[Int]]]
    /// All records that the push names, with any kind of operation.
    private var named: [Int: Set<IDHash>] = [:]
    /// The deleted records that take their children along, as link digests by table.
    private var gone: [Int: Set<UInt64>] = [:]
    private var found: [Int: [String]] = [:]
    private var count = 0

    /// Creates a search in the records that a client holds.
    package init(_ held: HeldRecords, maximum: Int = Self.maximum, maximumPairs: Int = 1 << 20) {
        self.held = held
        self.maximum = maximum
        self.maximumPairs = maximumPairs
        order = TableOrder(held.schema.tables)
        parents = held.schema.tables.indices.map { table in
            held.parents(of: table).map { $0.filter { held.schema.tables[$0].cascade == .gateway } }
        }
    }

    /// Returns true if any of these operations can have descendants that have to be deleted.
    package static func isNeeded(for operations: [PushOperation], in schema: Schema) -> Bool {
        let deleted = Set(operations.lazy.filter { $0.kind == .delete }.map(\.table))
        let names = Set(deleted.map { schema.tables[$0] }.filter { $0.cascade == .gateway }.map(\.name))
        return !names.isEmpty
            && schema.tables.contains { table in
                table.isLedgered && table.parents.contains { names.contains($0.table) }
            }
    }

    /// Returns the ids to delete as well, by the table's index in the schema, without those that the push names itself.
    ///
    /// - Throws: ``Failure/tooMany``, and errors of reading the ledger.
    package mutating func run(_ operations: [PushOperation]) async throws -> [Int: [String]] {
        for operation in operations {
            let hash = IDHash(id: operation.id, key: held.key)
            named[operation.table, default: []].insert(hash)
            guard operation.kind == .delete, cascades(operation.table) else { continue }
            gone[operation.table, default: []].insert(hash.link)
        }
        var rank = 0
        while rank < order.order.count {
            let cycle = order.cycle(of: rank)
            let ranks = cycle ?? rank..<rank + 1
            rank = ranks.upperBound
            let tables = order.order[ranks].filter { held.schema.tables[$0].isLedgered }
            guard tables.contains(where: isConcerned) else { continue }
            if cycle != nil { try await close(over: tables) }
            for table in tables where isConcerned(table) { try await collect(table) }
        }
        return found
    }

    private func cascades(_ table: Int) -> Bool { held.schema.tables[table].cascade == .gateway }

    private func isConcerned(_ table: Int) -> Bool {
        parents[table].joined().contains { gone[$0]?.isEmpty == false }
    }

    /// Collects every record of a table whose parent is gone.
    private mutating func collect(_ table: Int) async throws {
        var walk = try held.walk(table)
        while try await walk.next() {
            guard isBelow(walk, table), named[table]?.contains(walk.hash) != true else { continue }
            found[table, default: []].append(walk.id)
            count += 1
            guard count <= maximum else { throw Failure.tooMany }
            if cascades(table) { gone[table, default: []].insert(walk.hash.link) }
        }
    }

    private func isBelow(_ walk: HeldRecordWalk, _ table: Int) -> Bool {
        zip(walk.links, parents[table]).contains { link, parents in
            link != 0 && parents.contains { gone[$0]?.contains(link) == true }
        }
    }

    /// Finds the records that take others along in tables that are each other's parents: in one walk and then in
    /// memory, since the tables may be nested as deep as they have records.
    private mutating func close(over tables: [Int]) async throws {
        var pairs: [Pair] = []
        for table in tables where cascades(table) {
            var walk = try held.walk(table)
            while try await walk.next() {
                guard named[table]?.contains(walk.hash) != true else { continue }
                if isBelow(walk, table) { gone[table, default: []].insert(walk.hash.link) }
                for (link, parents) in zip(walk.links, parents[table]) where link != 0 {
                    for parent in parents where tables.contains(parent) {
                        pairs.append(
                            Pair(parentTable: parent, parent: link, childTable: table, child: walk.hash.link))
                    }
                }
                guard pairs.count <= maximumPairs else { throw Failure.tooMany }
            }
        }
        pairs.sort { ($0.parentTable, $0.parent) < ($1.parentTable, $1.parent) }
        var work = tables.flatMap { table in (gone[table] ?? []).map { (table, $0) } }
        while let (table, link) = work.popLast() {
            var index = Self.firstPair(of: table, link, in: pairs)
            while index < pairs.count, pairs[index].parentTable == table, pairs[index].parent == link {
                let pair = pairs[index]
                index += 1
                guard gone[pair.childTable, default: []].insert(pair.child).inserted else { continue }
                work.append((pair.childTable, pair.child))
            }
        }
    }

    private static func firstPair(of table: Int, _ link: UInt64, in pairs: [Pair]) -> Int {
        var (low, high) = (0, pairs.count)
        while low < high {
            let middle = (low + high) / 2
            if (pairs[middle].parentTable, pairs[middle].parent) < (table, link) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
