// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// `cascade = gateway`: what hangs on a deleted record goes with the same push, children before parents.
@Suite(.timeLimit(.minutes(5))) struct CascadeTests {
    /// Two projects, of which the first has two tasks with a comment and a label, and a device that holds all of it.
    private static func started(
        _ style: PushStyle = .calls, _ overrides: [String: String] = [:], parent: String? = nil,
        _ body: (GatewayStack, inout StackDevice) async throws -> Void
    ) async throws {
        let defaults = ["push.cascade": "gateway", "push.conflicts": "backend"]
        var options = try style.options(defaults.merging(overrides) { $1 })
        if let parent {
            let text = try options.configuration ?? StackConfiguration.quickstart()
            options.configuration = text.replacing("parent = project_id projects", with: "parent = \(parent)")
        }
        try await GatewayStack.with(options) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]), .put("projects", ["id": "q"]), .put("tags", ["id": "g"]),
                .put("tasks", ["id": "t1", "projectId": "p"]), .put("tasks", ["id": "t2", "projectId": "p"]),
                .put("tasks", ["id": "u", "projectId": "q"]), .put("comments", ["id": "c1", "taskId": "t1"]),
                .put("comments", ["id": "c2", "taskId": "t2"]), .put("comments", ["id": "d", "taskId": "u"]),
                .put("task_tags", ["taskId": "t1", "tagId": "g"]))
            var device = try await stack.quietDevices()[0]
            stack.backend.clearRequests()
            try await body(stack, &device)
        }
    }

    /// What was deleted, in this order: `comments/c1`.
    private static func deletions(_ stack: GatewayStack) -> [String] {
        stack.backend.requests.flatMap { request -> [String] in
            if request.path == "/sync/push" {
                return request.body.split(separator: "\n").compactMap { line in
                    let value = DemoValue(parsing: line.utf8)
                    guard value?["op"]?.string == "delete" else { return nil }
                    return "\(value?["table"]?.string ?? "")/\(value?["id"]?.string ?? "")"
                }
            }
            return request.method == "DELETE" && !request.path.hasPrefix("/sync")
                ? [String(request.path.dropFirst())] : []
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `descendants are deleted with their ancestor, children before parents`(
        style: PushStyle
    ) async throws {
        try await Self.started(style) { stack, device in
            try device.model.delete("projects", "p")
            let answer = try #require(try await device.push())
            let deleted = Self.deletions(stack)
            #expect(deleted.last == "projects/p" && deleted.count == 6)
            let place = Dictionary(uniqueKeysWithValues: deleted.enumerated().map { ($1, $0) })
            let label = style == .stream ? "task_tags/t1.g" : "tasks/t1/tags"
            for (child, parent) in [("comments/c1", "tasks/t1"), ("comments/c2", "tasks/t2"), (label, "tasks/t1")] {
                #expect(try #require(place[child]) < #require(place[parent]))
            }
            #expect(try await stack.figures(of: answer)["descendants"] == "5")
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
            #expect(device.ids("tasks") == ["u"] && device.ids("comments") == ["d"])
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `what the app deletes itself is not deleted twice, and what it moves elsewhere stays`(
        style: PushStyle
    ) async throws {
        try await Self.started(style) { stack, device in
            try device.model.update("tasks", "t2", with: ["project_id": "q"])
            try device.model.delete("tasks", "t1")
            try device.model.delete("projects", "p")
            try await device.sync()
            let deleted = Self.deletions(stack)
            #expect(deleted.count == 4 && Set(deleted).count == 4 && !deleted.contains("tasks/t2"))
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
            #expect(device.ids("tasks") == ["t2", "u"] && device.ids("comments") == ["c2", "d"])
        }
    }

    @Test func `what was pushed since the last pull counts`() async throws {
        try await Self.started { stack, device in
            try device.model.create("tasks", id: "new", ["project_id": "p"], now: 1)
            try await device.push()
            stack.backend.clearRequests()
            try device.model.delete("projects", "p")
            try await device.push()
            #expect(Self.deletions(stack).contains("tasks/new"))
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
        }
    }

    @Test func `a push that does not say what its device has seen leaves it to the backend, and the log says so`()
        async throws
    {
        try await Self.started { stack, _ in
            for cursor in [nil, Int64(17)] {
                stack.backend.clearRequests()
                let answer = try await stack.sendPush(cursor, .changes("projects", deleted: ["p"]), token: "device-a")
                #expect(answer.status == 200 && Self.deletions(stack) == ["projects/p"])
            }
            #expect(stack.log.lines.count { $0.metadata["code"] == "push.cascade_unknown" } == 2)
        }
    }

    @Test func `what another user has moved elsewhere since is a conflict, and stays`() async throws {
        try await Self.started(.calls, ["push.conflicts": "stream"]) { stack, device in
            try await stack.backend.edit(.put("tasks", ["id": "t1", "projectId": "q"]))
            try device.model.delete("projects", "p")
            let answer = try await device.pushLosingAnswer()
            #expect(answer.outcome == "409 push.conflict" && answer.text.contains(": tasks t1 ("), "\(answer)")
            #expect(Self.deletions(stack) == [])
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
            #expect(device.ids("tasks") == ["t1", "u"] && device.ids("comments") == ["c1", "d"])
            #expect(!Self.deletions(stack).contains("tasks/t1"))
        }
    }

    @Test func `in a table that refers to itself the deepest go first`() async throws {
        try await Self.started(parent: "project_id projects, note tasks") { stack, device in
            try await stack.backend.edit(
                .put("tasks", ["id": "t2", "note": "t1"]), .put("tasks", ["id": "t3", "note": "t2"]),
                .put("tasks", ["id": "u", "note": "t3"]))
            try await device.sync()
            stack.backend.clearRequests()
            try device.model.delete("tasks", "t1")
            try await device.push()
            let deleted = Self.deletions(stack).filter { $0.hasPrefix("tasks/") && !$0.hasSuffix("tags") }
            #expect(deleted == ["tasks/u", "tasks/t3", "tasks/t2", "tasks/t1"])
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
        }
    }

    @Test func `without it, deletions of one push still go in the order of their records`() async throws {
        try await Self.started(.stream, ["push.cascade": "backend"], parent: "project_id projects, note tasks") {
            stack, device in
            try await stack.backend.edit(
                .put("tasks", ["id": "t1", "note": "u"]), .put("tasks", ["id": "t2", "note": "t1"]))
            try await device.sync()
            stack.backend.clearRequests()
            for id in ["t1", "u", "t2"] { try device.model.delete("tasks", id) }
            try await device.push()
            #expect(Self.deletions(stack) == ["tasks/t2", "tasks/t1", "tasks/u"])
        }
    }
}
