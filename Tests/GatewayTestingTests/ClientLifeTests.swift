// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Testing

/// Edits, schema versions (table g), copies of the database.
@Suite struct ClientLifeTests {
    @Test func `an edit to the same value is none, and the device's clock stamps the others`() throws {
        var client = ClientModel(schema: .recorded, seed: 1)
        let id = try client.create("tasks", ["name": "a"], now: 5)
        #expect(id.count == 16)
        client.markAsSynced(client.fetchLocalChanges())
        try client.update("tasks", id, with: ["name": "a"], now: 6)
        #expect(!client.hasUnsyncedChanges)
        try client.update("tasks", id, with: ["name": "b"], now: 7)
        let record = try #require(client.record("tasks", id))
        #expect(record.status == .updated && record.changed == ["name", "updated_at"])
        #expect(record.values["created_at"] == 5 && record.values["updated_at"] == 7)
    }

    @Test func `what is not there can't be edited`() throws {
        var client = try LocalState.deleted.client()
        #expect(throws: ClientFailure.noSuchRecord(ClientKey("t", "r"))) {
            try client.update("t", "r", with: ["name": "x"])
        }
        #expect(throws: ClientFailure.noSuchRecord(ClientKey("t", "x"))) { try client.delete("t", "x") }
        #expect(throws: ClientFailure.noSuchRecord(ClientKey("t", "x"))) { try client.purge("t", "x") }
        #expect(throws: ClientFailure.noSuchColumn("t.zzz")) { try client.create("t", ["zzz": 1]) }
        #expect(throws: ClientFailure.noSuchColumn("x")) { try client.create("x") }
        #expect(throws: ClientFailure.duplicateID(ClientKey("t", "other"))) { try client.create("t", id: "other") }
    }

    /// The rows of table g: LPA set?, MEA, LS, CV, migration from, and LS afterwards.
    @Test(
        arguments: [
            (false, nil, nil, 3, nil, 3), (false, 1, nil, 3, nil, 3), (false, 1, 2, 3, nil, 3),
            (true, nil, nil, 3, nil, nil),
            (true, nil, 1, 3, nil, 1), (true, 2, 3, 3, nil, 3), (true, 2, 2, 3, 2, 3), (true, 2, 1, 3, 1, 3),
            (true, 2, nil, 3, 2, 3), (true, 3, nil, 3, nil, nil), (true, 0, 1, 3, nil, 1),
        ] as [(Bool, Int?, Int?, Int, Int?, Int?)])
    func `migrations are decided as the table says`(
        hasPulled: Bool, enabledAt: Int?, synced: Int?, current: Int, from: Int?, after: Int?
    ) throws {
        var client = ClientModel(schema: .recorded, version: current, seed: 1)
        client.options.migrationsEnabledAt = enabledAt
        client.database.lastPulledAtText = hasPulled ? "1000" : nil
        client.database.lastPulledSchemaVersion = synced
        let (arguments, log) = try client.pullArguments()
        #expect(arguments.migration?.from == from)
        #expect(arguments.schemaVersion == current && arguments.lastPulledAt == (hasPulled ? 1000 : nil))
        #expect(log == (!hasPulled && synced != nil ? [.schemaVersionBeforeFirstSync] : []))
        #expect(client.apply(Array(#"{"timestamp":2000}"#.utf8), to: arguments).isApplied)
        #expect(client.database.lastPulledSchemaVersion == after)
    }

    @Test(arguments: [(2, 4, 3), (4, nil, 3), (1, 2, 3), (2, 1, 3), (-1, nil, 3)] as [(Int, Int?, Int)])
    func `versions that don't go together fail before the server hears of it`(
        enabledAt: Int, synced: Int?, current: Int
    ) throws {
        var schema = ClientSchema.recorded
        schema.oldestMigration = 2
        var client = ClientModel(schema: schema, version: current, seed: 1)
        client.options.migrationsEnabledAt = enabledAt
        client.database.lastPulledAtText = "1000"
        client.database.lastPulledSchemaVersion = synced
        #expect(throws: ClientFailure.self) { try client.pullArguments() }
    }

    @Test func `a newer app has the added columns at their defaults and says what it gained`() throws {
        var client = ClientModel(schema: .recorded, seed: 1)
        client.options.migrationsEnabledAt = 1
        #expect(client.apply(Array(#"{"timestamp":1000}"#.utf8)).isApplied)
        let project = try client.create("projects", ["name": "p"])
        client.upgrade(to: 3)
        #expect(client.record("projects", project)?.values["color"] == .null)
        let migration = try #require(try client.pullArguments().arguments.migration)
        let expected = #"""
            {"from":1,"tables":["comments","tags"],"columns":[{"table":"tasks","columns":["due_at"]},\#
            {"table":"projects","columns":["color"]}]}
            """#
        #expect(migration.json.text == expected)
        try client.create("tags", ["label": "x"])
    }

    @Test func `a failed pull repeats its migration`() throws {
        var client = ClientModel(schema: .recorded, seed: 1)
        client.options.migrationsEnabledAt = 1
        #expect(client.apply(Array(#"{"timestamp":1000}"#.utf8)).isApplied)
        client.upgrade(to: 2)
        let arguments = try client.pullArguments().arguments
        #expect(!client.apply(Array("oops".utf8), to: arguments).isApplied)
        #expect(try client.pullArguments().arguments == arguments)
    }

    @Test func `a backup brings rows and time back, a clone makes ids of its own`() throws {
        var client = try LocalState.synced.client()
        let backup = client.database
        try client.update("t", "r", with: ["name": "later"])
        #expect(client.apply(changes(timestamp: "2000")).isApplied)
        var clone = client.clone()
        #expect(try clone.create("t") != (try client.create("t")))
        client.restore(backup)
        #expect(client.row == #"synced [] "old" "old" 1 true"# && client.lastPulledAt == 1000)
        #expect(clone.lastPulledAt == 2000)
        client.reset()
        #expect(client.lastPulledAt == nil && client.contents == ["t": [:], "u": [:]])
    }

    @Test func `a backup of an older app is brought to the present version`() throws {
        var client = ClientModel(schema: .recorded, seed: 1)
        let id = try client.create("tasks", ["name": "a"])
        let backup = client.database
        client.upgrade(to: 3)
        client.restore(backup)
        #expect(client.database.version == 3 && client.record("tasks", id)?.values["due_at"] == .null)
    }

    @Test func `the same seed gives the same client`() throws {
        func run(_ seed: UInt64) throws -> ClientModel.Database {
            var client = ClientModel(schema: .fixture, seed: seed)
            for _ in 0..<3 { try client.create("t") }
            return client.database
        }
        #expect(try run(7) == run(7))
        #expect(try run(7) != run(8))
    }

    @Test(
        arguments: [
            (0, "0"), (1.5, "1.5"), (-2, "-2"), (1e20, "100000000000000000000"), (1e21, "1e+21"), (1.25e22, "1.25e+22"),
            (1e-6, "0.000001"), (1e-7, "1e-7"), (123e-20, "1.23e-18"), (9_007_199_254_740_992, "9007199254740992"),
            (0.1, "0.1"), (.leastNonzeroMagnitude, "5e-324"), (.infinity, "Infinity"), (.nan, "NaN"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (1_700_000_000_123, "1700000000123"), (1e16, "10000000000000000"),
            (1.2345678901234568e20, "123456789012345680000"),
        ] as [(Double, String)])
    func `numbers are written as JavaScript writes them`(number: Double, text: String) {
        #expect(JavaScriptNumber.text(number) == text)
    }
}
