// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import NIOConcurrencyHelpers
import SQLiteState
import StateStore
import SyncModel
import Testing

/// Apps that tell no schema version: what their pushes name shows it.
@Suite(.timeLimit(.minutes(5))) struct PushedVersionTests {
    /// A backend with something in every table and column that came later.
    private static func seed(_ stack: GatewayStack) async throws {
        try await stack.backend.edit(
            .put("projects", ["id": "p1", "name": "plain"]), .put("projects", ["id": "p2", "color": "#c00"]),
            .put("tasks", ["id": "t1", "projectId": "p1"]),
            .put("tasks", ["id": "t2", "projectId": "p1", "dueAt": 1_700_000_000_000]),
            .put("comments", ["id": "c1", "taskId": "t1", "body": "old"]), .put("tags", ["id": "g1", "label": "g"]),
            .put("task_tags", ["taskId": "t1", "tagId": "g1"]))
    }

    /// What is noted of each replica.
    private static func noted(_ stack: GatewayStack) async throws -> [Int?] {
        try StateDump(path: stack.statePath, kinds: [.replica]).replicas.sorted { $0.firstSeen < $1.firstSeen }
            .map(\.pushedVersion)
    }

    @Test func `an updated app gets what it lacks with the pull after the push that shows its version`() async throws {
        try await GatewayStack.with { stack in
            try await Self.seed(stack)
            var phone = try await stack.device(version: 1, shape: .docsOld)
            try await phone.sync()
            try await stack.expectEqual(phone)
            try phone.model.create("projects", ["name": "mine"])
            for _ in 0..<2 { try await phone.sync() }
            #expect(try await Self.noted(stack) == [1])
            phone.model.upgrade(to: 3)
            try phone.model.create("projects", ["name": "mine, too"])
            try await phone.sync()
            #expect(try await Self.noted(stack) == [3])
            #expect(phone.model.record("comments", "c1") == nil)

            let answer = try await phone.pull().answer
            #expect(try await stack.figures(of: answer)["migration"] == "1 to 3")
            try await stack.expectEqual(phone)
            #expect(phone.model.record("tasks", "t2")?.values["due_at"] == 1_700_000_000_000)
            // Once is enough.
            let next = try await phone.pull().answer
            #expect(try await stack.figures(of: next)["mode"] == "idle")
        }
    }

    @Test func `the answer with what it lacked may be lost, and comes again`() async throws {
        try await GatewayStack.with { stack in
            try await Self.seed(stack)
            var phone = try await stack.device(version: 1, shape: .docsOld)
            try await phone.sync()
            phone.model.upgrade(to: 3)
            try phone.model.create("projects", ["name": "mine"])
            try await phone.sync()
            for _ in 0..<2 { try await phone.pullLosingAnswer() }
            try await phone.pull()
            try await stack.expectEqual(phone)
        }
    }

    @Test func `what is noted is written once for an update of an app`() async throws {
        let writes = NIOLockedValueBox(0)
        var options = StackOptions()
        options.state.trace = { sql in
            if sql.hasPrefix("UPDATE replica") { writes.withLockedValue { $0 += 1 } }
        }
        try await GatewayStack.with(options) { stack in
            var phone = try await stack.device(shape: .docsOld)
            try await phone.sync()
            var counts: [Int] = []
            for number in 0..<4 {
                try phone.model.create("tags", ["label": .string("\(number)")])
                writes.withLockedValue { $0 = 0 }
                try await phone.sync()
                counts.append(writes.withLockedValue { $0 })
            }
            #expect(try await Self.noted(stack) == [3])
            // The next cursor, and with it the one that comes back.
            #expect(counts.dropFirst().allSatisfy { $0 == 1 }, "\(counts)")
        }
    }

    @Test func `a push without a time is the only device's, and nobody's where there are two`() async throws {
        try await GatewayStack.with { stack in
            let changes = #"{"tags":{"created":[],"updated":[],"deleted":[]},"projects":{"created":[{"id":"n"}]}}"#
            _ = try await stack.pull("last_pulled_at=null")
            #expect(try await stack.push(changes, at: nil).status == 200)
            #expect(try await Self.noted(stack) == [3])
            _ = try await stack.pull("last_pulled_at=null")
            #expect(try await stack.push(changes, at: nil).status == 200)
            #expect(try await Set(Self.noted(stack)) == [3, nil])
        }
    }

    @Test func `a push with an unknown time is nobody's`() async throws {
        try await GatewayStack.with { stack in
            _ = try await stack.pull("last_pulled_at=null")
            #expect(try await stack.push(#"{"tags":{"created":[{"id":"n"}]}}"#, at: 12_345).status == 200)
            #expect(try await Self.noted(stack) == [nil])
        }
    }

    @Test(arguments: [(2, #"{"tags":{"created":[{"id":"n"}]}}"#), (3, #"{"projects":{"created":[{"id":"n"}]}}"#)])
    func `a push that tells the version is believed, whatever it names`(version: Int, changes: String) async throws {
        try await GatewayStack.with { stack in
            let cursor = try await stack.pull("last_pulled_at=null").timestamp
            let target = "/sync?last_pulled_at=\(cursor)&schema_version=\(version)"
            let answer = try await stack.send("POST", target, body: Array(changes.utf8))
            #expect(answer.status == 200)
            #expect(try await Self.noted(stack) == [version])
        }
    }

    @Test func `a refused push shows nothing`() async throws {
        try await GatewayStack.with { stack in
            let cursor = try await stack.pull("last_pulled_at=null").timestamp
            stack.backend.inject(DemoFault("POST", "/sync/push", times: 10, action: .status(403)))
            let answer = try await stack.push(#"{"tags":{"created":[{"id":"n"}]}}"#, at: cursor)
            #expect(!answer.isSuccess)
            #expect(try await Self.noted(stack) == [nil])
        }
    }

    @Test func `a push whose version can't be noted is applied all the same`() async throws {
        try await GatewayStack.with { stack in
            let cursor = try await stack.pull("last_pulled_at=null").timestamp
            // Confirms the cursor, which is a write of its own.
            _ = try await stack.pull("last_pulled_at=\(cursor)")
            try StateDump.execute(
                """
                CREATE TRIGGER broken BEFORE UPDATE ON replica BEGIN SELECT RAISE(ABORT, 'broken'); END
                """, path: stack.statePath)
            let answer = try await stack.push(#"{"tags":{"created":[{"id":"n","label":"x"}]}}"#, at: cursor)
            #expect(answer.status == 200)
            #expect(try await stack.records("tags")["n"] != nil)
            #expect(stack.log.lines(containing: "could not record a client's schema version").count == 1)
            try StateDump.execute("DROP TRIGGER broken", path: stack.statePath)
            _ = try await stack.push(#"{"tags":{"created":[{"id":"n","label":"x"}]}}"#, at: cursor)
            #expect(try await Self.noted(stack) == [3])
        }
    }

    @Test func `a clone that is not updated keeps its own version`() async throws {
        try await GatewayStack.with { stack in
            try await Self.seed(stack)
            var phone = try await stack.device(version: 1, shape: .docsOld)
            for _ in 0..<2 { try await phone.sync() }
            var clone = phone
            clone.model = phone.model.clone()
            for _ in 0..<2 {
                try await stack.backend.edit(.put("projects", ["id": "p1", "name": "again"]))
                try await phone.sync()
            }
            phone.model.upgrade(to: 3)
            try phone.model.create("projects", ["name": "mine"])
            for _ in 0..<2 { try await phone.sync() }
            try await stack.expectEqual(phone)
            // What the phone has shown is not taken for the clone's, which is updated later.
            try await clone.sync()
            clone.model.upgrade(to: 3)
            try clone.model.create("projects", ["name": "the clone's"])
            for _ in 0..<2 { try await clone.sync() }
            try await stack.expectEqual(clone)
        }
    }
}
