// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
package import SyncModel

/// The plan of a push: the whitelisted operations in the order in which a backend can take them.
///
/// A created or changed record comes after the records that it refers to, and a deleted one before them; the
/// order of the arrays means nothing, because clients list records in any order (LokiJS in reverse).
package struct PushPlan: Hashable, Sendable {
    /// The operations in the order in which they are applied.
    package private(set) var operations: [PushOperation] = []
    /// Stretches of operations that do not depend on each other, in the order in which they are applied.
    ///
    /// Those of one are on different records. All of them must be applied before the first of the next stretch.
    package private(set) var levels: [Range<Int>] = []
    /// Records of tables that are not in the configuration, by table; they are dropped.
    package private(set) var dropped: [String: Int] = [:]

    /// Orders the changes of all tables.
    ///
    /// - Parameters:
    ///   - changes: The pushed changes.
    ///   - schema: The whitelist, and the references between tables.
    ///   - references: Returns the known references of a record; only called for tables that refer to themselves
    ///     or to each other.
    package init(
        changes: [PushedTable], schema: Schema, references: (PushOperation) -> [PushReference] = { _ in [] }
    ) {
        var indices: [String: Int] = [:]
        for (index, table) in schema.tables.enumerated() { indices[table.name] = index }
        var writes = Array(repeating: [PushOperation](), count: schema.tables.count)
        var deletions = writes
        for set in changes {
            guard let table = indices[set.name] else {
                if set.count > 0 { dropped[set.name, default: 0] += set.count }
                continue
            }
            writes[table] += set.created.map { PushOperation(kind: .create, table: table, id: $0.id, range: $0.range) }
            writes[table] += set.updated.map { PushOperation(kind: .update, table: table, id: $0.id, range: $0.range) }
            deletions[table] += set.deleted.map { PushOperation(kind: .delete, table: table, id: $0, range: nil) }
        }
        let groups = Self.groups(schema.tables)
        for group in groups {
            let members = group.tables.flatMap { writes[$0] }
            append(members, RecordOrder(members, references: group.isCyclic ? references : { _ in [] }).levels)
        }
        for group in groups.reversed() {
            let members = group.tables.reversed().flatMap { deletions[$0] }
            let order = RecordOrder(members, references: group.isCyclic ? references : { _ in [] })
            append(members, order.levels.reversed().map { group.isCyclic ? $0.reversed() : $0 })
        }
    }

    private mutating func append(_ members: [PushOperation], _ order: [[Int]]) {
        for level in order {
            levels.append(operations.count..<operations.count + level.count)
            operations += level.map { members[$0] }
        }
    }

    /// Returns the tables by their indices, each after those that it refers to; those of a cycle side by side.
    private static func groups(_ tables: [Table]) -> [(tables: [Int], isCyclic: Bool)] {
        let order = TableOrder(tables, countsReferences: true)
        var groups: [(tables: [Int], isCyclic: Bool)] = []
        var rank = 0
        while rank < order.order.count {
            let cycle = order.cycle(of: rank)
            let ranks = cycle ?? rank..<rank + 1
            groups.append((Array(order.order[ranks]), cycle != nil))
            rank = ranks.upperBound
        }
        return groups
    }
}
