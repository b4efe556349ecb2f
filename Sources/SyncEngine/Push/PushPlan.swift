// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What a push comes to: the whitelisted operations in the order in which a backend can take them.
///
/// Parents come before children where records are created and changed, and after them where they are deleted; the order
/// of the arrays means nothing, since clients list records in any (protocol: LokiJS in reverse).
package struct PushPlan: Hashable, Sendable {
    /// In the order in which they are applied.
    package private(set) var operations: [PushOperation] = []
    /// Records of tables that are not in the configuration, by table; they are dropped.
    package private(set) var dropped: [String: Int] = [:]

    /// Orders the changes of all tables.
    package init(changes: [PushedTable], schema: Schema) {
        let order = Self.parentsFirst(schema.tables)
        var rank: [String: Int] = [:]
        for (place, table) in order.enumerated() { rank[schema.tables[table].name] = place }
        for set in changes where rank[set.name] == nil {
            if set.count > 0 { dropped[set.name, default: 0] += set.count }
        }
        let known = changes.filter { rank[$0.name] != nil }
            .sorted { rank[$0.name, default: 0] < rank[$1.name, default: 0] }
        for set in known {
            let table = order[rank[set.name, default: 0]]
            operations += set.created.map { PushOperation(kind: .create, table: table, id: $0.id, range: $0.range) }
            operations += set.updated.map { PushOperation(kind: .update, table: table, id: $0.id, range: $0.range) }
        }
        for set in known.reversed() {
            let table = order[rank[set.name, default: 0]]
            operations += set.deleted.map { PushOperation(kind: .delete, table: table, id: $0, range: nil) }
        }
    }

    /// The places of the tables, each behind the tables that it refers to; tables of a cycle in the configured order.
    private static func parentsFirst(_ tables: [Table]) -> [Int] {
        var place: [String: Int] = [:]
        for (index, table) in tables.enumerated() { place[table.name] = index }
        let parents = tables.enumerated().map { index, table in
            Set((table.parents.map(\.table) + table.columns.compactMap(\.reference)).compactMap { place[$0] })
                .subtracting([index])
        }
        var order: [Int] = []
        var placed: Set<Int> = []
        while order.count < tables.count {
            let free = tables.indices.filter { !placed.contains($0) && parents[$0].isSubset(of: placed) }
            let next = free.isEmpty ? tables.indices.filter { !placed.contains($0) }.prefix(1).map { $0 } : free
            order += next
            placed.formUnion(next)
        }
        return order
    }
}
