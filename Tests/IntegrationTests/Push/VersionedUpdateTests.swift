// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// `update = PATCH … if_match`: the backend compares what the client had seen, and nothing is overwritten unseen.
@Suite(.timeLimit(.minutes(5))) struct VersionedUpdateTests {
    private static func started(_ body: (GatewayStack, inout StackDevice) async throws -> Void) async throws {
        var options = try StackOptions.pushingByCalls()
        options.configuration = options.configuration?
            .replacing("PATCH /tasks/{id} missing 404", with: "PATCH /tasks/{id} missing 404 if_match")
            .replacing(
                "[columns tasks]", with: "[columns tasks]\nversion = string? \"version\" version readonly since 2")
        var schema = ClientSchema.quickstart
        let place = try #require(schema.tables.firstIndex { $0.name == "tasks" })
        schema.tables[place].columns.append(.init("version", .string, isOptional: true, since: 2))
        try await GatewayStack.with(options) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p", "name": "old"]))
            var device = try await stack.device(schema: schema)
            try await device.sync()
            stack.backend.clearRequests()
            try await body(stack, &device)
        }
    }

    private static func tags(_ stack: GatewayStack) -> [String?] {
        stack.backend.requests.filter { $0.method == "PATCH" }.map { $0.headers["if-match"] }
    }

    @Test func `an update says which version its client had seen`() async throws {
        try await Self.started { stack, device in
            guard case .string(let version)? = device.model.record("tasks", "t")?.values["version"] else {
                Issue.record("the device has no version")
                return
            }
            try device.model.update("tasks", "t", with: ["name": "mine"])
            try await device.push()
            #expect(Self.tags(stack) == ["\"\(version)\""])
            #expect(try await stack.records("tasks")["t"]?["name"] == "mine")
        }
    }

    @Test func `what another user has changed since is a conflict, and both changes survive the next sync`()
        async throws
    {
        try await Self.started { stack, device in
            try device.model.update("tasks", "t", with: ["name": "mine"])
            try await stack.backend.edit(.put("tasks", ["id": "t", "name": "theirs", "note": "theirs"]))
            let answer = try await device.pushLosingAnswer()
            #expect(answer.outcome == "409 push.conflict" && answer.text.contains(": tasks t ("), "\(answer)")
            #expect(try await stack.records("tasks")["t"]?["name"] == "theirs")
            try await device.sync()
            let task = try await stack.records("tasks")["t"]
            #expect(task?["name"] == "mine" && task?["note"] == "theirs" && !device.model.hasUnsyncedChanges)
        }
    }

    @Test func `what the client has made and not yet seen back has no version`() async throws {
        try await Self.started { stack, device in
            try device.model.create("tasks", id: "n", ["name": "new", "project_id": "p"], now: 1)
            try await device.push()
            try device.model.update("tasks", "n", with: ["name": "newer"])
            try await device.push()
            #expect(Self.tags(stack) == [nil])
            #expect(try await stack.records("tasks")["n"]?["name"] == "newer")
        }
    }

    @Test func `two pushes without a pull between them are one conflict at the most`() async throws {
        try await Self.started { stack, device in
            try device.model.update("tasks", "t", with: ["name": "mine"])
            try await device.push()
            try device.model.update("tasks", "t", with: ["name": "mine again"])
            #expect(try await device.pushLosingAnswer().outcome == "409 push.conflict")
            try await device.sync()
            #expect(try await stack.records("tasks")["t"]?["name"] == "mine again")
            #expect(!device.model.hasUnsyncedChanges)
        }
    }
}
