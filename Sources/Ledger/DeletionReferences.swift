// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
package import SyncModel

/// The references of deleted records to other records that the same push deletes.
///
/// A deletion carries only an id; in tables that refer to themselves, or to each other in a circle, only the client's
/// ledger shows which of them has to go first (push rule 1: children before their parents).
package struct DeletionReferences {
    private let held: HeldRecords
    private let cyclic: Set<Int>

    /// Creates a search in the records that a client holds.
    package init(_ held: HeldRecords) {
        self.held = held
        cyclic = Self.cyclicTables(held.schema)
    }

    /// Returns true if the order of these operations' deletions depends on more than their tables.
    package static func areNeeded(for operations: [PushOperation], in schema: Schema) -> Bool {
        let deletions = operations.filter { $0.kind == .delete }
        guard deletions.count > 1 else { return false }
        let cyclic = cyclicTables(schema)
        return deletions.lazy.filter { cyclic.contains($0.table) }.prefix(2).count > 1
    }

    private static func cyclicTables(_ schema: Schema) -> Set<Int> {
        let order = TableOrder(schema.tables, countsReferences: true)
        return Set(order.cycles.flatMap { order.order[$0] })
    }

    /// Looks up the parents of deleted records.
    ///
    /// - Parameter deleted: The ids by the table's index in the schema.
    /// - Returns: For each deleted record, the deleted records that it refers to; records without known references are
    ///   left out.
    /// - Throws: Errors of reading the ledger.
    package func find(_ deleted: [Int: [String]]) async throws -> [PushReference: [PushReference]] {
        let tables = deleted.filter { cyclic.contains($0.key) }
        var ids: [Int: [UInt64: String]] = [:]
        for (index, list) in tables {
            for id in list { ids[index, default: [:]][IDHash(id: id, key: held.key).link] = id }
        }
        var references: [PushReference: [PushReference]] = [:]
        for (index, list) in tables where held.schema.tables[index].isLedgered {
            let parents = held.parents(of: index)
            guard parents.joined().contains(where: { ids[$0] != nil }) else { continue }
            var walk = try held.walk(index)
            for (hash, id) in list.map({ (IDHash(id: $0, key: held.key), $0) }).sorted(by: { $0.0 < $1.0 }) {
                guard try await walk.seek(to: hash) else { continue }
                var found: [PushReference] = []
                for (link, indices) in zip(walk.links, parents) where link != 0 {
                    found += indices.compactMap { parent in
                        ids[parent]?[link].map { PushReference(table: parent, id: $0) }
                    }
                }
                if !found.isEmpty { references[PushReference(table: index, id: id)] = found }
            }
        }
        return references
    }
}
