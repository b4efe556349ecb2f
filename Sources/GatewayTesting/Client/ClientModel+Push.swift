// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

/// The changes that a client is about to push: its rows at the time of fetching.
package struct ClientLocalChanges: Hashable, Sendable {
    /// The pushed changes of one table.
    package struct Table: Hashable, Sendable {
        /// The table.
        package var name: String
        /// The columns of the app's schema, which every row is pushed with.
        package var columns: [ClientSchema.Column]
        /// Rows that the server doesn't know.
        package var created: [ClientRecord]
        /// Rows that were edited.
        package var updated: [ClientRecord]
        /// Rows that were deleted.
        package var deleted: [String]

        /// Creates the pushed changes of a table.
        package init(
            name: String, columns: [ClientSchema.Column], created: [ClientRecord] = [], updated: [ClientRecord] = [],
            deleted: [String] = []
        ) {
            self.name = name
            self.columns = columns
            self.created = created
            self.updated = updated
            self.deleted = deleted
        }

        var isEmpty: Bool { created.isEmpty && updated.isEmpty && deleted.isEmpty }
    }

    /// Every table of the app's schema, empty ones included.
    package var tables: [Table]

    /// Changes of these tables.
    package init(tables: [Table]) { self.tables = tables }

    /// True if no changes wait to be pushed; the library does not call `pushChanges` then.
    package var isEmpty: Bool { tables.allSatisfy(\.isEmpty) }

    /// The changes as the library gives them to `pushChanges`.
    package var json: JSONValue {
        .object(
            tables.map { table in
                let created = table.created.map { $0.json(columns: table.columns) }
                let updated = table.updated.map { $0.json(columns: table.columns) }
                return .init(
                    table.name,
                    .object([
                        .init("created", .array(created)), .init("updated", .array(updated)),
                        .init("deleted", .array(table.deleted.map { .string($0) })),
                    ]))
            })
    }

    /// The changes as `JSON.stringify` writes them.
    package var bytes: [UInt8] { json.serialised }
}

extension ClientModel {
    /// Returns the changes that wait to be pushed (`fetchLocal`).
    package func fetchLocalChanges() -> ClientLocalChanges {
        let tables = schema.tables(at: database.version).map { table in
            let rows = database.tables[table.name]?.all ?? []
            let created = rows.filter { $0.status == .created }
            return ClientLocalChanges.Table(
                name: table.name, columns: table.columns(at: database.version),
                // LokiJS lists them in reverse.
                created: options.adapter == .loki ? created.reversed() : created,
                updated: rows.filter { $0.status == .updated },
                deleted: rows.filter { $0.status == .deleted }.map(\.id))
        }
        return ClientLocalChanges(tables: tables)
    }

    /// Marks pushed rows as the library's `markAsSynced` does after a push was answered with 2xx.
    ///
    /// Rows that were edited since they were fetched still wait to be pushed; rejected ones stay unchanged if the app
    /// returns the answer. Nothing happens after a push that fails, so this is not called then.
    ///
    /// - Parameters:
    ///   - changes: The pushed changes.
    ///   - answer: The answer's body; one that is no JSON rejects nothing.
    package mutating func markAsSynced(_ changes: ClientLocalChanges, answer: [UInt8] = []) {
        let rejected = options.passesWholeAnswer ? Self.rejectedIDs(answer) : [:]
        for table in changes.tables {
            let refused = rejected[table.name] ?? []
            for pushed in table.created + table.updated where !refused.contains(pushed.id) {
                guard var record = record(table.name, pushed.id), record == pushed else { continue }
                record.status = .synced
                record.changed = []
                database.tables[table.name]?[record.id] = record
            }
            for id in table.deleted where !refused.contains(id) {
                if record(table.name, id)?.status == .deleted { database.tables[table.name]?[id] = nil }
            }
        }
    }

    /// Returns the rejected ids by table; values of another form are ignored.
    private static func rejectedIDs(_ answer: [UInt8]) -> [String: Set<String>] {
        let limits = JSONValue.Limits(bytes: .max, depth: 512, elements: .max)
        guard let members = (try? JSONValue.parse(answer, limits: limits))?["experimentalRejectedIds"]?.members
        else { return [:] }
        var rejected: [String: Set<String>] = [:]
        for member in members { rejected[member.name] = Set(member.value.array?.compactMap(\.string) ?? []) }
        return rejected
    }
}
