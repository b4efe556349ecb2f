// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// A device gets what is new to it, what has changed for it and what is gone for it, and nothing else.
@Suite(.timeLimit(.minutes(5))) struct ExactChangesTests {
    @Test func `new records are created, changed ones updated, gone ones deleted`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            var devices = try await stack.quietDevices(["device-a", "device-b"])
            try await stack.change()
            let expected = [
                "created comments#c-new", "created tasks#t-new", "deleted tasks#t-1", "deleted tasks#t-2",
                "updated projects#p-0", "updated tags#ada-tag-0", "updated tasks#t-5",
            ]
            // The seed has six tasks, so four of the nine that are changed are new.
            let more = (6..<10).map { "created tasks#t-\($0)" }
            for place in [0, 1] {
                try await devices[place].expectPull((expected + more).sorted())
                try await devices[place].expectPull([])
            }
        }
    }

    @Test func `rows that are sent again as they were are not sent to a device that has them`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            var device = try await stack.quietDevices()[0]
            let name = try #require(try await stack.records("tasks")["t-0"]?["name"])
            try await stack.backend.edit(
                .put("tasks", ["id": "t-0", "name": name]),
                // A member that is not in the configuration.
                .put("projects", ["id": "p-0", "settings": ["view": "board"]]))
            let (answer, _) = try await device.pull()
            #expect(try PulledChanges(answer).brief == [])
            #expect(try await stack.figures(of: answer)["equal"] == "2")
            // Changed and changed back between two pulls.
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": "else"]))
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": name]))
            try await device.expectPull([])
            try await stack.expectEqual(device)
        }
    }

    @Test func `the deletion of a record that the device never had is not sent`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            var device = try await stack.quietDevices()[0]
            try await stack.backend.edit(
                .put("tags", ["id": "brief", "label": "x"]), .put("tasks", ["id": "brief", "projectId": "p-0"]),
                .delete("tags", "brief"), .delete("tasks", "brief"))
            let (answer, _) = try await device.pull()
            #expect(try PulledChanges(answer).brief == [])
            #expect(try await stack.figures(of: answer)["lines"] == "3")
        }
    }

    @Test func `a record that is deleted and made anew is created, or updated where the device still has it`()
        async throws
    {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 6)
            var devices = try await stack.quietDevices(["device-a", "device-b"])
            try await stack.backend.edit(.delete("tags", "ada-tag-0"))
            try await devices[0].expectPull(["deleted tags#ada-tag-0"])
            try await stack.backend.edit(.put("tags", ["id": "ada-tag-0", "label": "again"]))
            try await devices[0].expectPull(["created tags#ada-tag-0"])
            try await devices[1].expectPull(["updated tags#ada-tag-0"])
            for device in devices { try await stack.expectEqual(device) }
        }
    }

    @Test func `an answer that is lost is made up for, and nothing counts as known that was in it`() async throws {
        try await GatewayStack.with(StackOptions(["pull.repeat_window": "0s"])) { stack in
            try await stack.seed(tasks: 6)
            var device = try await stack.quietDevices()[0]
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": "first"]), .delete("tasks", "t-1"))
            let expected = ["deleted tasks#t-1", "updated tasks#t-0"]
            for _ in 0..<3 {
                #expect(try PulledChanges(await device.pullLosingAnswer()).brief == expected)
            }
            try await device.expectPull(expected)
            try await device.expectPull([])
            try await stack.expectEqual(device)
        }
    }

    @Test func `hundreds of small pulls leave a ledger that is as exact as ever`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 60)
            var device = try await stack.quietDevices()[0]
            for round in 0..<180 {
                let id = DemoValue.string("t-\(round % 60)")
                let edit: DemoEdit =
                    round % 4 == 3
                    ? .delete("tasks", "t-\(round % 60)")
                    : .put("tasks", ["id": id, "name": .string("round \(round)"), "projectId": "p-0"])
                try await stack.backend.edit(edit)
                try await device.pull()
            }
            try await stack.expectEqual(device)
            #expect(stack.log.lines(containing: "a ledger was compacted").count >= 2)
            try await stack.lose("tasks", ["t-0"])
            try await stack.demandReset()
            // What was deleted before and is streamed as deleted once more does not come either.
            try await device.expectPull(["deleted tasks#t-0"])
            try await stack.expectEqual(device)
        }
    }
}
