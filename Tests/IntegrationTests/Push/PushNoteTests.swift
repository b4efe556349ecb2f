// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// What the state remembers of pushes.
@Suite(.timeLimit(.minutes(5))) struct PushNoteTests {
    private static func notes(_ stack: GatewayStack) async throws -> [PushNote] {
        let replica = try #require(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 1).first)
        return try await stack.store.read(replica.principal) { try NoteRules.notes(after: 0, limit: 100, of: &$0) }
    }

    @Test(arguments: [401, 429])
    func `what the backend has taken of a push that fails half way is held`(_ status: Int) async throws {
        try await CallPushTests.started { stack, device in
            for number in 1...3 { try device.model.create("tags", id: "n-\(number)", ["label": "new"]) }
            stack.backend.inject(DemoFault("POST", "/tags", action: .delay(0)))
            stack.backend.inject(DemoFault("POST", "/tags", action: .status(status)))
            await #expect(throws: StackDevice.Failure.self) { try await device.sync() }
            let notes = try await Self.notes(stack)
            #expect(notes.sorted { $0.id < $1.id }.map(\.state) == [.held, .seen, .seen])
        }
    }

    @Test func `the links of a note are those that the streamed row would have`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 1)
            var device = try await stack.device()
            try await device.sync()
            func link(_ value: DemoValue) async throws -> [UInt64] {
                let tasks: [DemoValue] = [["id": "n", "name": "new", "project_id": value]]
                _ = try await stack.sendPush(nil, .changes("tasks", created: tasks))
                return try #require(try await Self.notes(stack).last).links
            }
            let link0 = try await link("p-0")
            #expect(link0.count == 1 && link0 != [0])
            for none: DemoValue in [.null, "", true, 1.5] { #expect(try await link(none) == [0]) }
            // Whole numbers are ids, too.
            let seven = try await link("7")
            for same: DemoValue in [7, 7.0] { #expect(try await link(same) == seven) }
        }
    }

    @Test func `with more notes than can be laid over a ledger everything is compared, once`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 3)
            var device = try await stack.quietDevices()[0]
            let principal = try #require(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 1).first)
                .principal
            func note(_ ids: Range<Int>) async throws {
                let notes = ids.map { PushNote(table: "tags", id: "x-\($0)", state: .seen) }
                try await stack.store.change(principal) { try NoteRules.write(notes, at: 1, in: &$0) }
            }
            // One record twice, so that there are more sequences than notes.
            try await note(0..<50_000)
            try await note(0..<1)
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": "new"]))
            let lost = try await device.pullLosingAnswer()
            #expect(try await stack.figures(of: lost)["restart"] == nil)
            try await note(50_000..<50_001)
            let answer = try await device.pull().answer
            #expect(try await stack.figures(of: answer)["restart"] == "older_than_ledger")
            #expect(try PulledChanges(answer).deleted == [:])
            try await stack.expectEqual(device)
            try await device.expectPull([])
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `B4: a push that the backend refuses as a whole leaves no notes, and changes those of no earlier one`(
        _ style: PushStyle
    ) async throws {
        try await GatewayStack.with(style.options(["push.retry_budget": "0s"])) { stack in
            let cursor = try PulledChanges(await stack.sendPull()).cursor
            func push(_ ids: [String]) async throws -> RawAnswer {
                let tags = ids.map { DemoValue.object(["id": .string($0), "label": "new"]) }
                return try await stack.sendPush(cursor, .changes("tags", created: tags))
            }
            stack.backend.rejectedIDs = ["x-0", "x-1", "x-2"]
            #expect(try await push(["x-0", "x-1", "x-2"]).outcome == "422 push.rejected")
            #expect(try await Self.notes(stack).isEmpty)
            let tag = DemoValue.changes("tags", created: [["id": "x-0", "label": "new"]])
            let refused = try await stack.sendPush(cursor, tag, ["Accept": "application/json"])
            #expect(DemoValue(parsing: refused.body)?["error"]?["details"] == ["records": ["tags": ["x-0"]]])
            // The outcome of this one is unknown: what it has noted is not the refused one's to take back.
            let path = style == .calls ? "/tags" : "/sync/push"
            stack.backend.inject(DemoFault("POST", path, times: 9, action: .status(500)))
            #expect(try await push(["x-1"]).outcome == "502 push.unknown_outcome")
            stack.backend.clearFaults()
            #expect(try await push(["x-1", "x-2"]).outcome == "422 push.rejected")
            #expect(try await Self.notes(stack).map { "\($0.id) \($0.state)" } == ["x-1 seen"])
            for status in [403, 413] {
                stack.backend.inject(DemoFault("POST", path, action: .status(status)))
                #expect(try await push(["x-3"]).status >= 400)
            }
            #expect(try await Self.notes(stack).map(\.id) == ["x-1"])
        }
    }
}
