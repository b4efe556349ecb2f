// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// An app as it deals with schema versions, and the gateway that it meets.
struct SchemaApp: CustomTestStringConvertible, Sendable {
    var name: String
    /// Nil: it never sends `migration`, like most.
    var migrationsEnabledAt: Int?
    var shape = ClientRequestShape.docs
    var overrides: [String: String] = [:]
    var testDescription: String { name }

    /// What the documentation of WatermelonDB shows.
    static let documented = SchemaApp(name: "the documentation's app", migrationsEnabledAt: 1)
    /// What most users have.
    static let silent = SchemaApp(name: "an app that never sends a migration")
    static let all = [
        documented, silent, SchemaApp(name: "an app in camel case", migrationsEnabledAt: 1, shape: .camel),
        SchemaApp(name: "the documentation's app without a ledger", migrationsEnabledAt: 1, overrides: off),
        SchemaApp(name: "an app that never sends a migration, without a ledger", overrides: off),
    ]
    private static let off = ["ledger.mode": "off"]

    /// Whether the gateway keeps a ledger.
    var hasLedger: Bool { overrides["ledger.mode"] == nil }

    /// The quickstart's gateway.
    func options(_ further: [String: String] = [:]) -> StackOptions {
        StackOptions(overrides.merging(further) { $1 })
    }
}

extension GatewayStack {
    /// A device of Ada's that holds everything that its version has, and has said so.
    func quietDevice(
        _ app: SchemaApp = .silent, version: Int = 1, schema: ClientSchema = .quickstart,
        token: String = "device-a", seed: UInt64 = 1
    ) async throws -> StackDevice {
        var options = ClientModel.Options()
        options.migrationsEnabledAt = app.migrationsEnabledAt
        var device = try await device(
            version: version, schema: schema, shape: app.shape, token: token, options: options, seed: seed)
        for _ in 0..<2 { try await device.sync() }
        try await expectEqual(device)
        return device
    }

    /// Fills the backend for migrations: 240 tasks, every fourth with a date, and some of all the rest.
    func seedForMigration() async throws {
        try await seed(tasks: 240)
        for number in 0..<20 {
            try await backend.edit(
                .put("task_tags", ["taskId": .string("t-\(number)"), "tagId": "ada-tag-\(number % 2)".demo]))
        }
    }

    /// Changes 200 rows: most in columns that old apps have, some in new ones, some gone, some new, some moved.
    func changeTwoHundred() async throws {
        var edits: [DemoEdit] = []
        for number in 0..<80 { edits.append(.put("tasks", ["id": "t-\(number)".demo, "name": "changed"])) }
        for number in 100..<130 {
            edits.append(.put("tasks", ["id": "t-\(number)".demo, "dueAt": .number(1.7e12 + Double(number))]))
        }
        for number in 130..<140 { edits.append(.put("tasks", ["id": "t-\(number)".demo, "dueAt": .null])) }
        for number in 140..<150 { edits.append(.put("tasks", ["id": "t-\(number)".demo, "projectId": "p-1"])) }
        for number in 150..<170 { edits.append(.delete("tasks", "t-\(number)")) }
        for number in 0..<20 {
            edits.append(.put("tasks", ["id": "new-\(number)".demo, "name": "new", "projectId": "p-0"]))
            edits.append(.put("comments", ["id": "new-\(number)".demo, "body": "new", "taskId": "t-5"]))
        }
        for number in 0..<4 { edits.append(.put("comments", ["id": "c-\(number)".demo, "body": "changed"])) }
        edits += [.put("tags", ["id": "new", "label": "new"]), .put("tags", ["id": "ada-tag-0", "label": "changed"])]
        edits.append(.put("task_tags", ["taskId": "t-30", "tagId": "new"]))
        edits += [
            .put("projects", ["id": "p-0", "color": "pink"]), .put("projects", ["id": "p-1", "name": "changed"]),
        ]
        edits.append(.delete("comments", "c-4"))
        #expect(edits.count == 200)
        try await backend.edit(edits)
    }

    /// Expects that a device holds what its user sees, and so what one holds that was installed a moment ago.
    func expectAsFresh(_ device: StackDevice, _ location: SourceLocation = #_sourceLocation) async throws {
        try await expectEqual(device, location)
        var fresh = try await self.device(
            version: device.model.database.version, schema: device.model.schema, seed: 99)
        try await fresh.sync()
        let differences = StackOracle.differences(device.model.contents, fresh.model.contents)
        #expect(differences == [], sourceLocation: location)
    }

    /// What the log says that the client gained with the sync that was answered like this, such as `1 to 3`.
    func migration(of answer: RawAnswer) async throws -> String? { try await figures(of: answer)["migration"] }
}

extension String {
    /// The text as the demo backend takes it.
    var demo: DemoValue { .string(self) }
}

extension PulledChanges {
    /// What an app of a version must not see: tables and columns that it does not have.
    func strangers(to schema: ClientSchema, at version: Int) -> [String] {
        var strangers: Set<String> = []
        for (table, records) in Array(created) + Array(updated) {
            let known = Set(schema.table(named: table, at: version)?.columns(at: version).map(\.name) ?? [])
            for record in records.values {
                strangers.formUnion((record.object ?? [:]).keys.filter { $0 != "id" && !known.contains($0) })
            }
        }
        return (strangers + tables.filter { schema.table(named: $0, at: version) == nil }).sorted()
    }
}
