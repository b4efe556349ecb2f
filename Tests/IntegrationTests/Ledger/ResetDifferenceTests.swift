// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// A reset of the backend costs a device the difference, not its database.
@Suite(.timeLimit(.minutes(5))) struct ResetDifferenceTests {
    private static let three = ["deleted tasks#t-1", "deleted tasks#t-2", "deleted tasks#t-3"]

    @Test func `a reset with five thousand rows of which three are gone brings three deletions and nothing else`()
        async throws
    {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 5_000)
            var devices = try await stack.quietDevices(["device-a", "device-a"])
            try devices[0].model.update("tasks", "t-10", with: ["name": "mine"])
            try devices[0].model.update("tasks", "t-2", with: ["name": "lost"])
            try devices[0].model.delete("tasks", "t-11")
            try devices[0].model.create("tags", id: "unsynced", ["label": "mine"])
            try await stack.lose("tasks", ["t-1", "t-2", "t-3"])
            try await stack.demandReset()

            let (answer, _) = try await devices[0].pull()
            #expect(try PulledChanges(answer).brief == Self.three)
            let figures = try await stack.figures(of: answer)
            #expect(figures["restart"] == "reset" && figures["absent"] == "3" && figures["mode"] == "incremental")
            #expect(figures["resumes"] == nil)
            // What is not pushed yet is still there, but for the record that is gone.
            #expect(devices[0].model.record("tasks", "t-10")?.status == .updated)
            #expect(devices[0].model.record("tasks", "t-11")?.status == .deleted)
            #expect(devices[0].model.record("tags", "unsynced")?.status == .created)
            #expect(devices[0].model.record("tasks", "t-2") == nil)

            // The other device of the session gets the very same, although the reset is acknowledged.
            let (other, _) = try await devices[1].pull()
            #expect(try PulledChanges(other).brief == Self.three)
            #expect(try await stack.figures(of: other)["restart"] == "older_generation")

            for place in [0, 1, 0] { try await devices[place].sync() }
            for device in devices { try await stack.expectEqual(device) }
            #expect(try await stack.records("tasks")["t-10"]?["name"] == "mine")
            #expect(try await stack.records("tasks")["t-11"] == nil)
        }
    }

    @Test func `a reset that breaks off changes nothing, and the next pull delivers it`() async throws {
        let options = StackOptions(["backend.resume_attempts": "2", "backend.resume_backoff": "1ms"])
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 200)
            var device = try await stack.quietDevices()[0]
            try await stack.lose("tasks", ["t-1", "t-2", "t-3"])
            try await stack.demandReset()
            let before = try stack.clientState()
            var cut = DemoFault.Stream()
            cut.cutAfterLines = 20
            // The first stream is the line that demands the reset.
            stack.backend.inject(DemoFault("POST", "/sync/stream", times: 4, action: .stream(cut)))
            let failed = try await device.pullLosingAnswer()
            #expect(failed.outcome == "502 backend.stream_broken")
            #expect(try stack.clientState() == before)
            stack.backend.clearFaults()
            let (answer, _) = try await device.pull()
            #expect(try PulledChanges(answer).brief == Self.three)
            #expect(try await stack.figures(of: answer)["restart"] == "older_generation")
            try await device.expectPull([])
        }
    }

    @Test func `what is edited while everything is streamed is not taken for gone`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 20)
            var device = try await stack.quietDevices()[0]
            try await stack.lose("tasks", ["t-1"])
            try await stack.demandReset()
            let backend = stack.backend
            // It gets an id behind the bound of this stream, so its row is not in it.
            backend.streamHook = { point in
                guard point == StreamPoint(request: "TasksV2", part: .upserts) else { return }
                backend.streamHook = nil
                try await backend.edit(.put("tasks", ["id": "t-2", "name": "just now"]))
            }
            try device.model.update("tasks", "t-2", with: ["note": "mine"])
            try await device.expectPull(["deleted tasks#t-1", "updated tasks#t-2"])
            #expect(device.model.record("tasks", "t-2")?.values["note"] == "mine")
            #expect(device.model.record("tasks", "t-2")?.values["name"] == "just now")
        }
    }

    @Test func `a device that signs in anew gets the difference as well`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 20)
            var device = try await stack.quietDevices()[0]
            try await stack.lose("tasks", ["t-1"])
            try await stack.backend.edit(
                .put("tasks", ["id": "t-2", "name": "other"]), .put("tasks", ["id": "t-new", "projectId": "p-0"]))
            device.token = "device-b"
            let (answer, _) = try await device.pull()
            #expect(
                try PulledChanges(answer).brief == ["created tasks#t-new", "deleted tasks#t-1", "updated tasks#t-2"])
            #expect(try await stack.figures(of: answer)["restart"] == "other_session")
        }
    }

    @Test func `an answer of a reset that is lost comes again the same`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 20)
            var device = try await stack.quietDevices()[0]
            try await stack.lose("tasks", ["t-1"])
            try await stack.demandReset()
            let lost = try PulledChanges(await device.pullLosingAnswer())
            #expect(lost.brief == ["deleted tasks#t-1"])
            try await device.expectPull(lost.brief)
            try await device.expectPull([])
            try await stack.expectEqual(device)
        }
    }
}
