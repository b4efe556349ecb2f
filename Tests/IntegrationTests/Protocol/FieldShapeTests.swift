// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import JSONBytes
import Testing

/// Every request shape that was found in the field, against the running gateway.
@Suite struct FieldShapeTests {
    @Test func `all shapes are there`() { #expect(Recordings.shapes.count == 122) }

    @Test(arguments: Recordings.shapes)
    func `a request in a shape found in the field does what it means`(shape: Recordings.Shape) async throws {
        try await GatewayStack.with(StackOptions(Self.overrides(shape.row["config"]))) { stack in
            try await Self.prepare(stack.backend)
            let before = try await stack.snapshot()
            let answer = try await Self.send(shape, stack)
            let meanings = [shape.row["meaning"], shape.row["also"]].compactMap { $0 }
            let status = meanings.lazy.compactMap { $0["error"]?["status"]?.int64 }.first
            if let status, Int64(answer.status) == status {
                #expect(answer.isComplete && answer.errorCode != nil, "\(answer)")
                #expect(try await stack.snapshot() == before)
                return
            }
            let meaning = try #require(meanings.first { $0["op"] != nil }, "expected an error: \(answer)")
            if meaning["op"]?.string == "pull" {
                try await Self.expectPulled(answer, shape, stack)
            } else {
                #expect(answer.isSuccess, "\(answer)")
                try await Self.expectApplied(try #require(meaning["changes"]), before, stack)
            }
        }
    }

    /// What pushes update and delete is there before, and something to pull.
    private static func prepare(_ backend: DemoBackend) async throws {
        try await backend.edit(
            .put("projects", ["id": "p1", "name": "one"]),
            .put("tasks", ["id": "tAsK000000000002", "projectId": "p1", "name": "before", "position": 9]),
            .put("tasks", ["id": "tAsK000000000003", "projectId": "p1"]), .put("tasks", ["id": "t1"]))
    }

    private static func send(_ shape: Recordings.Shape, _ stack: GatewayStack) async throws -> RawAnswer {
        let request = try #require(shape.row["request"])
        let headers = try #require(request["headers"]?.members).map { ($0.name, $0.value.string ?? "") }
        return try await stack.http.send(
            try #require(request["method"]?.string), try #require(request["target"]?.string), headers: headers,
            body: Array((request["body"]?.string ?? "").utf8))
    }

    /// The cursor is nobody's, or there is none: everything comes.
    private static func expectPulled(
        _ answer: RawAnswer, _ shape: Recordings.Shape, _ stack: GatewayStack
    ) async throws {
        if shape.row["request"]?["method"]?.string == "HEAD" {
            #expect(answer.status == 200 && answer.body.isEmpty)
            return
        }
        let timestampName = shape.row["config"]?["timestampName"]?.string ?? "timestamp"
        let pulled = try PulledAnswer(answer, timestampName: timestampName)
        #expect(pulled.upserts("projects") == ["p1"])
        #expect(pulled.upserts("tasks") == ["t1", "tAsK000000000002", "tAsK000000000003"])
        let isFirst = shape.row["meaning"]?["lastPulledAt"]?.isNull == true
        #expect(pulled.ids("projects", isFirst ? "created" : "updated") == ["p1"])
        let version = shape.row["meaning"]?["schemaVersion"]?.int64.map(Int.init) ?? 3
        #expect(pulled.tables == ClientSchema.quickstart.tables(at: min(version, 3)).map(\.name))
    }

    /// What was pushed is in the backend, everything else as it was.
    private static func expectApplied(
        _ changes: JSONValue, _ before: GatewayStack.Snapshot, _ stack: GatewayStack
    ) async throws {
        let after = try await stack.snapshot()
        var expected = before.ada
        for table in try #require(changes.members) where expected[table.name] != nil {
            for list in ["created", "updated"] {
                for record in table.value[list]?.array ?? [] {
                    let id = try #require(record["id"]?.string)
                    let stored = try #require(after.ada[table.name]?[id], "\(table.name)#\(id) is not there")
                    #expect(stored["_status"] == nil && stored["_changed"] == nil)
                    if let name = record["name"] { #expect(stored["name"]?.string == name.string) }
                    if let position = record["position"] { #expect(stored["position"]?.number == position.double) }
                    if let isDone = record["is_done"] { #expect(stored["isDone"]?.bool == isDone.bool) }
                    expected[table.name]?[id] = stored
                }
            }
            for id in table.value["deleted"]?.array ?? [] { expected[table.name]?[id.string ?? ""] = nil }
        }
        #expect(after.ada == expected && after.bob == before.bob)
    }

    /// The fixtures' names for what an operator sets, as the configuration's keys.
    private static func overrides(_ config: JSONValue?) -> [String: String] {
        let keys = [
            "lastPulledAtName": "wire.last_pulled_at", "timestampName": "wire.timestamp",
            "migrationName": "wire.migration", "pushTable": "wire.push_table", "bodyPath": "wire.body_path",
            "tokenHeader": "wire.token_header", "pullPath": "gateway.pull_path", "pushPath": "gateway.push_path",
        ]
        var overrides: [String: String] = [:]
        for member in config?.members ?? [] { overrides[keys[member.name] ?? member.name] = member.value.string }
        return overrides
    }
}
