// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
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
    /// Whether the backend refuses records that belong to one that it does not have: an app must not keep such ones.
    var isStrict = false
    /// Whether a creation is made twice where the backend carries it out after the gateway has looked for it.
    var losesLateCalls = false
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

    /// Tables whose ids the backend counts.
    static func numbered(finding means: StackOptions.LostAnswers) -> FaultTables {
        FaultTables(
            tables: [
                Table(name: "folders", nameColumn: "name", parent: ("parent_id", "folders")),
                Table(name: "notes", nameColumn: "title", parent: ("folder_id", "folders")),
            ],
            schema: .integerIDs, version: 1, options: { try .integerIDs(finding: means, $0) }, isStrict: true,
            losesLateCalls: means == .reference)
    }

    /// The same tables written by so many devices.
    func written(by devices: Int) -> FaultTables {
        var tables = self
        tables.devices = devices
        return tables
    }
}

/// Who uses the devices of a course.
struct FaultUser: Sendable {
    let email: String
    let tokens: [String]

    static let ada = FaultUser(email: "ada@example.com", tokens: ["device-a", "device-b"])

    /// One of as many as one likes.
    static func number(_ number: UInt64) -> FaultUser {
        FaultUser(email: "u\(number)@example.com", tokens: ["u\(number)-a", "u\(number)-b"])
    }

    /// Their account at the backend.
    var account: DemoConfiguration.Account {
        DemoConfiguration.Account(id: "id-of-\(email)", email: email, name: email, tokens: tokens)
    }
}
