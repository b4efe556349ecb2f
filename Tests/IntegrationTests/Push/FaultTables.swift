// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting

/// Which tables a course writes, and how their records are compared.
struct FaultTables: Sendable {
    /// A table: the column with a record's name, and the one that names another record.
    struct Table: Sendable {
        let name: String
        let nameColumn: String
        var parent: (column: String, table: String)?
    }

    let tables: [Table]
    let schema: ClientSchema
    let version: Int
    let options: @Sendable ([String: String]) throws -> StackOptions
    /// How many devices write.
    var devices = 1

    var oracle: ContentOracle {
        var oracle = ContentOracle(names: [:])
        for table in tables {
            oracle.names[table.name] = table.nameColumn
            if let parent = table.parent { oracle.references[table.name] = [parent.column: parent.table] }
        }
        return oracle
    }

    /// The tables of the quickstart example by REST calls, with the ids that clients make.
    static let clientIDs = FaultTables(
        tables: [
            Table(name: "projects", nameColumn: "name"), Table(name: "tags", nameColumn: "label"),
            Table(name: "tasks", nameColumn: "name", parent: ("project_id", "projects")),
            Table(name: "comments", nameColumn: "body", parent: ("task_id", "tasks")),
        ],
        schema: .quickstart, version: 3, options: { try .pushingByCalls($0) })

    /// The same tables written by so many devices.
    func written(by devices: Int) -> FaultTables {
        var tables = self
        tables.devices = devices
        return tables
    }
}
