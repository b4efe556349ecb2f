// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// A schema version that adds one thing costs one thing.
@Suite(.timeLimit(.minutes(5))) struct GainedColumnTests {
    /// The quickstart, but one column of tasks comes with version 4 and labels with version 5.
    private static func options(_ column: String, _ overrides: [String: String] = [:]) throws -> StackOptions {
        var options = StackOptions(overrides)
        options.configuration = try StackConfiguration.quickstart()
            .replacing("version = 3\n", with: "version = 5\n")
            .replacing("\nnote = string?\n", with: "\nnote = string?\(column == "note" ? " since 4" : "")\n")
            .replacing("\nposition = number\n", with: "\nposition = number\(column == "position" ? " since 4" : "")\n")
            .replacing(
                "\nis_done = boolean isDone\n",
                with: "\nis_done = boolean isDone\(column == "is_done" ? " since 4" : "")\n"
            )
            .replacing("[table tags]\nsince = 3", with: "[table tags]\nsince = 5")
            .replacing("[table task_tags]\nsince = 3", with: "[table task_tags]\nsince = 5")
        return options
    }

    private static func schema(_ column: String) -> ClientSchema {
        var schema = ClientSchema.quickstart
        for place in schema.tables.indices {
            let name = schema.tables[place].name
            if ["tags", "task_tags"].contains(name) {
                schema.tables[place].since = 5
                for column in schema.tables[place].columns.indices { schema.tables[place].columns[column].since = 5 }
            }
            guard name == "tasks" else { continue }
            for index in schema.tables[place].columns.indices where schema.tables[place].columns[index].name == column {
                schema.tables[place].columns[index].since = 4
            }
        }
        return schema
    }

    /// Columns, and whether a value is what WatermelonDB puts into a new column.
    private static let columns: KeyValuePairs<String, String> = [
        "note": "note", "position": "position", "is_done": "isDone",
    ]

    private static func hasValue(_ record: DemoValue, _ member: String) -> Bool {
        switch record[member] {
        case nil, .null?, .bool(false)?, .number(0)?, .string("")?: false
        default: true
        }
    }

    @Test(arguments: Array(columns).map(\.key), [SchemaApp.documented, .silent])
    func `rows in which an added column is at its default are not sent, and no other table is streamed`(
        _ column: String, _ app: SchemaApp
    ) async throws {
        try await GatewayStack.with(Self.options(column, app.overrides)) { stack in
            try await stack.seedForMigration()
            var device = try await stack.quietDevice(app, version: 3, schema: Self.schema(column))
            let member = Self.columns.first { $0.key == column }?.value ?? ""
            let tasks = try await stack.records("tasks")
            let valued = tasks.filter { Self.hasValue($0.value, member) }.keys
            #expect(valued.count > 20 && valued.count < 240)
            _ = stack.backend.takeSentLines()
            device.model.upgrade(to: 4)
            let (answer, applied) = try await device.pull()
            #expect(stack.backend.takeSentLines() == ["TaskV2": 240, "SyncCompleteV1": 1])
            #expect(try PulledChanges(answer).brief == valued.map { "updated tasks#\($0)" }.sorted())
            #expect(try await stack.figures(of: answer)["equal"] == "\(240 - valued.count)")
            #expect(applied.log == [])
            try await stack.expectAsFresh(device)
            // Not one row more is streamed from now on.
            _ = stack.backend.takeSentLines()
            try await device.expectPull([])
            #expect(stack.backend.takeSentLines() == ["SyncCompleteV1": 1])
        }
    }

    @Test(arguments: [SchemaApp.documented, .silent])
    func `an added table's rows are created, and no other table is streamed`(_ app: SchemaApp) async throws {
        try await GatewayStack.with(Self.options("note")) { stack in
            try await stack.seedForMigration()
            var device = try await stack.quietDevice(app, version: 4, schema: Self.schema("note"))
            _ = stack.backend.takeSentLines()
            device.model.upgrade(to: 5)
            let (answer, applied) = try await device.pull()
            #expect(stack.backend.takeSentLines() == ["TagV1": 2, "TaskTagV1": 20, "SyncCompleteV1": 1])
            let links = (0..<20).map { "created task_tags#t-\($0).ada-tag-\($0 % 2)" }
            #expect(
                try PulledChanges(answer).brief
                    == (["created tags#ada-tag-0", "created tags#ada-tag-1"] + links).sorted())
            #expect(applied.log == [])
            try await stack.expectAsFresh(device)
        }
    }

    @Test func `24: what went out to an app that could not keep it comes once the app can`() async throws {
        try await GatewayStack.with(Self.options("note")) { stack in
            try await stack.seedForMigration()
            // It tells no version, so it is sent everything, and ignores what its schema lacks.
            var device = try await stack.quietDevice(
                SchemaApp(name: "silent", shape: .docsOld), version: 1, schema: Self.schema("note"))
            // The next release tells its version.
            device.shape = .docs
            device.model.upgrade(to: 5)
            let (answer, _) = try await device.pull()
            #expect(try await stack.migration(of: answer) == "1 to 5")
            try await stack.expectAsFresh(device)
            let changes = try PulledChanges(answer)
            // What it could have deleted in the meantime must not come to life again.
            #expect(changes.created == [:])
            #expect(changes.updated["tags"]?.count == 2 && changes.updated["comments"]?.count == 5)
            try await device.expectPull([])
        }
    }

    @Test(.disabled("the configuration does not take migrations_enabled_at = 0 yet"))
    func `without migrations and a ledger nothing is fetched again`() async throws {
        var options = try Self.options("note", ["ledger.mode": "off"])
        options.configuration = options.configuration?.replacing("enabled_at = 1", with: "enabled_at = 0")
        try await GatewayStack.with(options) { stack in
            try await stack.seedForMigration()
            var device = try await stack.quietDevice(version: 3, schema: Self.schema("note"))
            _ = stack.backend.takeSentLines()
            device.model.upgrade(to: 4)
            let (answer, _) = try await device.pull()
            #expect(try await stack.migration(of: answer) == nil)
            #expect(stack.backend.takeSentLines() == ["SyncCompleteV1": 1])
            #expect(device.model.contents["tasks"]?.values.allSatisfy { $0["note"] == .null } == true)
        }
    }

    @Test func `what comes with a column leaves out what has gone, and takes back what was lost`() async throws {
        try await GatewayStack.with(Self.options("note")) { stack in
            try await stack.seedForMigration()
            var device = try await stack.quietDevice(version: 3, schema: Self.schema("note"))
            try await stack.lose("tasks", ["t-0", "t-1"])
            try await stack.backend.edit(
                .delete("tasks", "t-3"), .put("tasks", ["id": "t-4", "name": "changed"]),
                .put("tasks", ["id": "new", "projectId": "p-0", "note": "new"]))
            device.model.upgrade(to: 4)
            let changes = try PulledChanges(await device.pull().answer)
            #expect(changes.deleted == ["tasks": ["t-0", "t-1", "t-3"], "task_tags": []].filter { !$0.value.isEmpty })
            #expect(Set(changes.created["tasks"]?.keys.map { $0 } ?? []) == ["new"])
            #expect(changes.updated["tasks"]?["t-4"] != nil && changes.updated["tasks"]?["t-5"] == nil)
            try await stack.expectAsFresh(device)
        }
    }
}
