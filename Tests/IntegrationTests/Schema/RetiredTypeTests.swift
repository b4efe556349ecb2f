// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import Testing

/// A backend gives a request type up: whoever needs it hears of it, and everything else goes on.
@Suite(.timeLimit(.minutes(5))) struct RetiredTypeTests {
    private static let styles = [DemoRetirement.Style.names, .lists]

    /// What the log says about refused types, and the last result of the only replica.
    private static func told(_ stack: GatewayStack) async throws -> (types: [String], tables: [String], result: String)
    {
        let lines = stack.logged("backend.types")
        #expect(lines.allSatisfy { "\($0.level)" == "error" })
        let replicas = try await stack.store.inspection.replicas(of: nil, after: nil, limit: 10)
        return (
            lines.compactMap { $0.metadata["types"] }, lines.compactMap { $0.metadata["tables"] },
            replicas.first?.lastResult ?? ""
        )
    }

    private static let edits: [DemoEdit] = [
        .put("tasks", ["id": "t-5", "name": "changed"]), .put("tasks", ["id": "t-new", "projectId": "p-0"]),
        .delete("tasks", "t-1"), .put("projects", ["id": "p-0", "name": "changed"]),
        .put("comments", ["id": "c-0", "body": "changed"]), .put("tags", ["id": "new", "label": "new"]),
        .delete("tags", "ada-tag-1"),
    ]
    private static let others = [
        "created tags#new", "deleted tags#ada-tag-1", "updated comments#c-0", "updated projects#p-0",
    ]

    @Test(arguments: styles, [[:], ["ledger.mode": "off"]])
    func `the other tables go on, and everything comes once the backend is right again`(
        _ style: DemoRetirement.Style, _ overrides: [String: String]
    ) async throws {
        try await GatewayStack.with(StackOptions(overrides)) { stack in
            try await stack.seed()
            var device = try await stack.quietDevice(version: 3)
            try await stack.backend.edit(Self.edits)
            stack.backend.retirement = DemoRetirement(["TasksV2"], style: style)
            _ = stack.backend.takeSentLines()
            let (answer, _) = try await device.pull()
            let brief = try PulledChanges(answer).brief
            #expect(
                brief
                    == (overrides.isEmpty ? Self.others : Self.others.map { $0.replacing("created", with: "updated") })
                    .sorted())
            // The others went on from where they were.
            let sent = stack.backend.takeSentLines()
            #expect(sent == ["ProjectV2": 1, "CommentV1": 1, "TagV1": 1, "TagDeleteV1": 1, "SyncCompleteV1": 1])
            let told = try await Self.told(stack)
            #expect(told.types == ["TasksV2"] && told.tables == ["tasks"])
            #expect(told.result.hasPrefix("pull: without TasksV2; "), "\(told.result)")

            // Every pull says it anew, and the device can push meanwhile.
            try device.model.update("projects", "p-1", with: ["name": "mine"])
            for _ in 0..<2 { try await device.sync() }
            #expect(stack.logged("backend.types").count == 3)
            stack.backend.retirement = DemoRetirement()
            try await device.sync()
            try await stack.expectEqual(device)
            #expect(stack.logged("backend.types").count == 3)
            #expect(try await Self.told(stack).result.contains("without") == false)
            try await device.expectPull([])
        }
    }

    @Test func `a push that asks the stream for a type which the backend has given up tells that once`() async throws {
        try await GatewayStack.with(StackOptions(["push.conflicts": "stream"])) { stack in
            try await stack.seed()
            var device = try await stack.quietDevice(version: 3)
            stack.backend.retirement = DemoRetirement(["TasksV2"], style: .names)
            try device.model.update("projects", "p-1", with: ["name": "mine"])
            try device.model.update("tasks", "t-5", with: ["name": "mine"])
            _ = try await device.push()
            let lines = stack.logged("backend.types")
            #expect(lines.count == 1 && lines.allSatisfy { $0.metadata["tables"] == nil })
        }
    }

    @Test(arguments: ["GET", "POST"])
    func `a 400 to another call says nothing about types, and fails that pull alone`(_ method: String) async throws {
        try await GatewayStack.with(StackOptions(["pull.repeat_window": "0s"])) { stack in
            try await stack.seed()
            var device = try await stack.quietDevice(version: 3)
            try await stack.backend.edit(Self.edits)
            stack.backend.retirement = DemoRetirement(["TasksV2"], style: .names)
            // After a reset its acknowledgement is the call behind the refusal, otherwise the list behind the stream.
            if method == "POST" { try await stack.backend.setPendingReset(true, token: device.token) }
            stack.backend.inject(DemoFault(method, "/sync/ack", times: 1, action: .status(400)))
            let refused = try await device.pullLosingAnswer()
            #expect(refused.outcome == "502 backend.refused")
            stack.backend.clearFaults()
            stack.backend.retirement = DemoRetirement()
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: styles)
    func `everything comes once the configuration names the successor`(_ style: DemoRetirement.Style) async throws {
        var old = StackOptions()
        old.configuration = try StackConfiguration.quickstart()
            .replacing("request = TasksV1 then TasksV2 since 2", with: "request = TasksV1")
        let new = StackOptions()
        try await GatewayStack.withBackend(new) { backend, directory in
            var device = try await GatewayStack.with(old, backend: backend, directory: directory) { stack in
                try await stack.seed()
                // Until now nobody has noticed that the dates never come.
                var device = try await stack.device(version: 3, token: "device-a")
                for _ in 0..<2 { try await device.sync() }
                try await backend.edit(Self.edits)
                backend.retirement = DemoRetirement(["TasksV1"], style: style)
                try await device.expectPull(Self.others)
                #expect(try await Self.told(stack).types == ["TasksV1"])
                return device
            }
            try await GatewayStack.with(new, backend: backend, directory: directory) { stack in
                device.http = stack.http
                let changes = try PulledChanges(await device.pull().answer)
                #expect(changes.deleted == ["tasks": ["t-1"]])
                #expect(changes.updated["tasks"]?["t-0"]?["due_at"]?.number != nil)
                #expect(stack.logged("backend.types").isEmpty)
                try await stack.expectAsFresh(device)
                try await device.expectPull([])
            }
        }
    }

    @Test(arguments: styles)
    func `one that several are given up with is found out, whatever is left`(
        _ style: DemoRetirement.Style
    ) async throws {
        let all = ["ProjectsV2", "TasksV2", "CommentsV1", "TagsV1", "TaskTagsV1"]
        try await GatewayStack.with(StackOptions(["pull.repeat_window": "0s"])) { stack in
            try await stack.seed()
            let device = try await stack.quietDevice(version: 3)
            try await stack.backend.edit(Self.edits)
            for taken in 1..<31 {
                let retired = all.enumerated().filter { taken & 1 << $0.offset == 0 }.map(\.element)
                stack.backend.retirement = DemoRetirement(Set(retired), style: style)
                stack.log.clear()
                let answer = try await device.pullLosingAnswer()
                #expect(answer.status == 200, "\(retired): \(answer)")
                #expect(
                    stack.logged("backend.types").map { $0.metadata["types"] } == [
                        retired.sorted().joined(separator: " ")
                    ])
            }
            stack.backend.retirement = DemoRetirement()
            var last = device
            try await last.sync()
            try await stack.expectEqual(last)
        }
    }

    @Test(arguments: styles)
    func `a first sync goes without it, and gets it later`(_ style: DemoRetirement.Style) async throws {
        try await GatewayStack.with { stack in
            try await stack.seed()
            stack.backend.retirement = DemoRetirement(["TasksV2"], style: style)
            var device = try await stack.device(version: 3, token: "device-a")
            for _ in 0..<2 { try await device.sync() }
            #expect(device.ids("tasks") == [] && device.ids("projects") != [])
            stack.backend.retirement = DemoRetirement()
            try await device.sync()
            try await stack.expectEqual(device)
            // The others have been compared with their first sync.
            try await stack.backend.edit(.put("tags", ["id": "new", "label": "new"]))
            try await device.expectPull(["created tags#new"])
        }
    }

    @Test(arguments: styles)
    func `a table that did not come is not replaced by nothing`(_ style: DemoRetirement.Style) async throws {
        let overrides = ["ledger.mode": "off", "pull.unknown_cursor": "replacement"]
        try await GatewayStack.with(StackOptions(overrides)) { stack in
            try await stack.seed()
            var device = try await stack.quietDevice(version: 3)
            device.model.options.passesWholeAnswer = true
            try device.model.update("tasks", "t-0", with: ["name": "mine"])
            stack.backend.retirement = DemoRetirement(["TasksV2"], style: style)
            try await stack.lose("tags", ["ada-tag-1"])
            try await stack.demandReset()
            try await device.pull()
            #expect(device.ids("tasks").count == 40 && device.ids("tags") == ["ada-tag-0"])
            #expect(device.model.record("tasks", "t-0")?.status == .updated)
            stack.backend.retirement = DemoRetirement()
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
        }
    }

    @Test(arguments: styles)
    func `nothing of its table is deleted because it did not come, not even after a reset`(
        _ style: DemoRetirement.Style
    ) async throws {
        try await GatewayStack.with { stack in
            try await stack.seed()
            var device = try await stack.quietDevice(version: 3)
            stack.backend.retirement = DemoRetirement(["TasksV2"], style: style)
            try await stack.lose("tags", ["ada-tag-1"])
            try await stack.demandReset()
            try await device.expectPull(["deleted tags#ada-tag-1"])
            // An unknown cursor.
            var stray = device
            stray.model.database.lastPulledAtText = "1000000"
            let before = stray.ids("tasks")
            try await stray.pull()
            #expect(stray.ids("tasks") == before)
            stack.backend.retirement = DemoRetirement()
            for _ in 0..<2 { try await device.sync() }
            for _ in 0..<2 { try await stray.sync() }
            try await stack.expectEqual(device)
            try await stack.expectEqual(stray)
        }
    }

    @Test(arguments: styles)
    func `an app that is updated meanwhile gets what there is, and the rest later`(
        _ style: DemoRetirement.Style
    ) async throws {
        try await GatewayStack.with { stack in
            try await stack.seedForMigration()
            var device = try await stack.quietDevice()
            try await stack.changeTwoHundred()
            device.model.upgrade(to: 3)
            stack.backend.retirement = DemoRetirement(["TasksV2", "TagsV1"], style: style)
            try await device.sync()
            #expect(device.ids("comments").count == 24 && device.ids("tags") == [])
            #expect(device.ids("tasks").count == 240)
            stack.backend.retirement = DemoRetirement()
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectAsFresh(device)
        }
    }

    @Test(arguments: styles)
    func `a backend that takes none of them is an error of its own`(_ style: DemoRetirement.Style) async throws {
        try await GatewayStack.with { stack in
            try await stack.seed()
            var device = try await stack.quietDevice(version: 3)
            let all = ["ProjectsV2", "TasksV2", "CommentsV1", "TagsV1", "TaskTagsV1"]
            stack.backend.retirement = DemoRetirement(Set(all), style: style)
            let answer = try await device.pullLosingAnswer()
            #expect(answer.outcome == (style == .names ? "502 backend.types" : "502 backend.refused"))
            #expect(!answer.text.contains("TasksV2"))
            stack.backend.retirement = DemoRetirement()
            try await device.expectPull([])
        }
    }

    /// What is compressed does not come before the refusal; then it is asked for without.
    @Test(arguments: [true, false])
    func `one that is refused when its turn comes is found out too`(_ compresses: Bool) async throws {
        let overrides = ["backend.idle_timeout": "300ms", "backend.resume_backoff": "10ms"]
        var options = StackOptions(overrides)
        options.backend.compresses = compresses
        try await GatewayStack.with(options) { stack in
            try await stack.seed()
            var device = try await stack.quietDevice(version: 3)
            try await stack.backend.edit(Self.edits)
            stack.backend.retirement = DemoRetirement(["TasksV2"])
            try await device.expectPull(Self.others)
            #expect(try await Self.told(stack).types == ["TasksV2"])
            stack.backend.retirement = DemoRetirement()
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }
}
