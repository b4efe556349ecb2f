// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import Gateway
import GatewayTesting
import SyncModel
import Testing

/// What `docs/BACKEND-PROTOCOL.md` shows runs, and what it says of requests is what a backend gets.
@Suite(.timeLimit(.minutes(5))) struct BackendPageTests {
    enum Style: CaseIterable {
        case request, server
    }

    private static let schema = ClientSchema(tables: [
        .init(
            "projects",
            columns: [
                .init("name", .string), .init("is_archived", .boolean), .init("settings", .string, isOptional: true),
            ]),
        .init(
            "tasks",
            columns: [
                .init("name", .string), .init("is_done", .boolean), .init("project_id", .string),
                .init("due_at", .number, isOptional: true),
            ]),
    ])

    @Test(arguments: Style.allCases)
    func `the page's configuration of each style syncs two devices of a user`(_ style: Style) async throws {
        try await Self.with(style) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "house", "name": "House", "settings": ["view": "board"]]),
                .put("tasks", ["id": "roof", "name": "Mend the roof", "projectId": "house"]))
            var (phone, tablet) = (try await Self.device(stack, 1), try await Self.device(stack, 2))
            try await phone.sync()
            try await tablet.sync()
            #expect(phone.model.record("projects", "house")?.values["settings"] == #"{"view":"board"}"#)
            let project = try phone.model.create("projects", ["name": "Garden", "settings": #"{"view":"list"}"#])
            try phone.model.create(
                "tasks", ["name": "Paint", "project_id": .string(project), "due_at": 1_795_168_800_000])
            try tablet.model.update("tasks", "roof", with: ["is_done": true])
            for _ in 0..<2 {
                try await phone.sync()
                try await tablet.sync()
            }
            try tablet.model.delete("tasks", "roof")
            try await tablet.sync()
            try await phone.sync()
            let records = try await stack.backend.records()
            #expect(records["tasks"]?["roof"] == nil && records["tasks"]?.count == 1)
            #expect(records["tasks"]?.values.first?["dueAt"] == "2026-11-20T10:00:00.000Z")
            #expect(records["projects"]?[project]?["settings"] == ["view": "list"])
            for device in [phone, tablet] {
                #expect(device.model.contents["tasks"]?.count == 1 && device.model.contents["projects"]?.count == 2)
                #expect(!device.model.hasUnsyncedChanges)
            }
        }
    }

    @Test func `checkpoints carry the complete token, and none of deletions before the first has come`() async throws {
        try await Self.with(.request) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p"]))
            var phone = try await Self.device(stack, 1)
            try await phone.sync()
            #expect(Self.checkpoints(stack).last == [:])
            // As often as nothing is deleted, so often there is no token; and then the deletion comes all the same.
            try await stack.backend.edit(.delete("tasks", "t"))
            try await phone.sync()
            let names = Self.checkpoints(stack).last.map { Set($0.keys) }
            #expect(names?.isSuperset(of: ["ProjectV2", "TaskV2", "SyncCompleteV1"]) == true)
            #expect(names?.contains("TaskDeleteV1") == false)
            #expect(phone.model.contents["tasks"]?.isEmpty == true)
            try await phone.sync()
            #expect(Self.checkpoints(stack).last?["TaskDeleteV1"] != nil)
        }
    }

    @Test func `a reset is confirmed by a request without checkpoints, and concerns no other device`() async throws {
        try await Self.with(.request) { stack in
            try await stack.backend.edit(.put("projects", ["id": "p", "name": "old"]))
            var (phone, tablet) = (try await Self.device(stack, 1), try await Self.device(stack, 2))
            try await phone.sync()
            stack.backend.clock.advance(by: 29 * 86_400_000)
            try await tablet.sync()
            stack.backend.clock.advance(by: 3 * 86_400_000)
            try await phone.sync()
            let asked = Self.checkpoints(stack).suffix(2)
            #expect(asked.first?["SyncCompleteV1"] != nil && asked.last == [:])
            #expect(!stack.backend.requests.contains { $0.path == "/sync/ack" })
            try await tablet.sync()
            #expect(Self.checkpoints(stack).last?["SyncCompleteV1"] != nil)
            #expect(try await stack.figures(of: tablet.pull().answer)["restart"] == nil)
        }
    }

    @Test func `an idle device presents the same complete token until its timestamp is a day old`() async throws {
        let clock = ManualWallClock()
        try await Self.with(.request, clock: clock) { stack in
            var phone = try await Self.device(stack, 1)
            try await phone.sync()
            var complete: [String?] = []
            for _ in 0..<5 {
                clock.clock.advance(byMilliseconds: 10 * 3_600_000)
                try await phone.sync()
                complete.append(Self.checkpoints(stack).last?["SyncCompleteV1"] ?? nil)
            }
            // Pulls after 10, 20 and 30 hours; only the last of them has got a new timestamp.
            #expect(complete[0] != nil && complete[1] == complete[0] && complete[2] == complete[0])
            #expect(complete[3] != complete[0])
        }
    }

    @Test func `values are pushed in the form of their column's type, whatever form the app keeps them in`()
        async throws
    {
        try await Self.with(.request) { stack in
            var phone = try await Self.device(stack, 1)
            try await phone.sync()
            let project = try phone.model.create("projects", ["name": "p", "settings": #"{"view": "list"}"#])
            try phone.model.create(
                "tasks", ["project_id": .string(project), "is_done": true, "due_at": 1_795_168_800_000])
            try await phone.push()
            let data = try Self.pushed(stack).map { $0["data"] }
            #expect(data[0] == ["name": "p", "isArchived": false, "settings": ["view": "list"]])
            #expect(data[1]?["dueAt"] == "2026-11-20T10:00:00.000Z" && data[1]?["isDone"] == true)
            let request = try #require(stack.backend.requests.last { $0.path == "/sync/push" })
            #expect(request.headers["content-type"] == "application/jsonlines+json")
            #expect(request.headers["content-length"] == "\(request.body.utf8.count)")
            #expect(request.headers["idempotency-key"] != nil)
        }
    }

    @Test func `base is the token of the only namespace that has one, else the complete token`() async throws {
        try await Self.with(.request) { stack in
            try await stack.backend.edit(
                .put("projects", ["id": "p"]), .put("tasks", ["id": "t", "projectId": "p"]))
            var phone = try await Self.device(stack, 1)
            try await phone.sync()
            try phone.model.update("projects", "p", with: ["name": "mine"])
            try phone.model.update("tasks", "t", with: ["name": "mine"])
            try await phone.push()
            let bases = try Self.pushed(stack).map { ($0["table"]?.string, $0["base"]?.string?.prefix { $0 != "|" }) }
            // Of tasks there is a token of TaskBackfillV2, too.
            #expect(bases.map(\.0) == ["projects", "tasks"] && bases.map(\.1) == ["ProjectV2", "SyncCompleteV1"])
        }
    }

    @Test func `a record that a device has made in an empty table is no blind spot of the conflict check`() async throws
    {
        try await Self.with(.request) { stack in
            var phone = try await Self.device(stack, 1)
            try await phone.sync()
            let project = try phone.model.create("projects", ["name": "mine"])
            try await phone.push()
            try await stack.backend.edit(.put("projects", ["id": .string(project), "name": "theirs"]))
            try phone.model.update("projects", project, with: ["name": "mine again"])
            #expect(try await phone.pushLosingAnswer().outcome == "409 push.conflict")
            #expect(try await stack.backend.records()["projects"]?[project]?["name"] == "theirs")
        }
    }

    private static func with(
        _ style: Style, clock: (any WallClock)? = nil, _ body: (GatewayStack) async throws -> Void
    ) async throws {
        var options = StackOptions(["identity.key": "a-key-for-tests-that-is-no-secret-at-all"])
        options.configuration = try configuration(style)
        if let clock { options.clock = clock }
        try await GatewayStack.with(options, body)
    }

    /// The page's block for a style.
    private static func configuration(_ style: Style) throws -> String {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(contentsOf: root.appending(path: "docs/BACKEND-PROTOCOL.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```ini\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        let line = style == .request ? "checkpoints = request" : "checkpoints = server"
        return try #require(blocks.first { $0.contains(line) })
    }

    private static func device(_ stack: GatewayStack, _ seed: UInt64) async throws -> StackDevice {
        try await stack.device(version: 1, schema: schema, seed: seed)
    }

    /// What the stream requests have carried.
    private static func checkpoints(_ stack: GatewayStack) -> [[String: String?]] {
        stack.backend.requests.filter { $0.path == "/sync/stream-from" }.compactMap { request in
            request.json?["checkpoints"]?.object?.mapValues(\.string)
        }
    }

    /// The lines of the last push.
    private static func pushed(_ stack: GatewayStack) throws -> [DemoValue] {
        try #require(stack.backend.requests.last { $0.path == "/sync/push" }).body.split(separator: "\n")
            .compactMap { DemoValue(parsing: $0.utf8) }
    }
}
