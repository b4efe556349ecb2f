// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// What all other tests of this folder stand on.
@Suite struct StackTests {
    @Test(arguments: ClientRequestShape.allCases)
    func `two devices of one account end equal to the backend`(shape: ClientRequestShape) async throws {
        try await GatewayStack.with { stack in
            var seed = DemoSeed()
            (seed.projects, seed.tasks, seed.comments, seed.taskTags) = (3, 40, 20, 10)
            try await stack.backend.seed(seed)
            try await stack.backend.edit(.put("tasks", ["id": "childless", "name": "x", "projectId": "p-0"]))
            var phone = try await stack.device(shape: shape, seed: 1)
            var tablet = try await stack.device(shape: shape, seed: 2)
            try await phone.sync()
            try await tablet.sync()
            #expect(phone.model.contents["tasks"]?.isEmpty == false)
            let task = try phone.model.create("tasks", ["name": "from the phone", "project_id": "p-0"], now: 1_000)
            try tablet.model.update("tasks", "t-0", with: ["name": "from the tablet"], now: 2_000)
            try await stack.backend.edit(.delete("tasks", "childless"))
            try await phone.sync()
            try await tablet.sync()
            try await phone.sync()
            #expect(try await stack.differences(of: phone) == [])
            #expect(try await stack.differences(of: tablet) == [])
            #expect(tablet.model.record("tasks", task)?.values["name"] == "from the phone")
            #expect(phone.model.record("tasks", "t-0")?.values["name"] == "from the tablet")
            #expect(stack.log.lines.contains { $0.metadata["principal"] != nil })
        }
    }

    @Test func `records that are pushed call by call arrive`() async throws {
        try await GatewayStack.with(.pushingByCalls()) { stack in
            var phone = try await stack.device()
            try await phone.sync()
            let project = try phone.model.create("projects", ["name": "p", "color": "#fff"])
            let task = try phone.model.create("tasks", ["name": "t", "project_id": .string(project)], now: 5)
            try phone.model.create("comments", ["body": "c", "task_id": .string(task)])
            let tag = try phone.model.create("tags", ["label": "l"])
            try phone.model.create(
                "task_tags", id: "\(task).\(tag)", ["task_id": .string(task), "tag_id": .string(tag)])
            try await phone.sync()
            #expect(try await stack.differences(of: phone) == [])
            try phone.model.update("tasks", task, with: ["is_done": true], now: 6)
            try phone.model.delete("task_tags", "\(task).\(tag)")
            try await phone.sync()
            #expect(try await stack.differences(of: phone) == [])
            #expect(!phone.model.hasUnsyncedChanges)
        }
    }

    @Test func `a gateway that starts again on its state goes on where it was`() async throws {
        let options = StackOptions()
        try await GatewayStack.withBackend(options) { backend, directory in
            try await backend.edit(.put("projects", ["id": "p1", "name": "before"]))
            let device = try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                var device = try await stack.device()
                try await device.sync()
                return device
            }
            try await backend.edit(.put("projects", ["id": "p1", "name": "after"]))
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                var device = device
                device.http = stack.http
                let synced = try await device.sync()
                #expect(synced.applied.remoteChangeCount == 1)
                #expect(try await stack.differences(of: device) == [])
            }
        }
    }

    @Test func `the oracle sees every kind of difference`() {
        let client: [String: [String: [String: ClientValue]]] = ["a": ["1": ["x": 1], "2": ["x": 2]], "b": [:]]
        let backend: [String: [String: [String: ClientValue]]] = [
            "a": ["1": ["x": 5], "3": ["x": 2]], "c": ["9": [:]],
        ]
        #expect(
            StackOracle.differences(client, backend) == [
                "a#1: x is 1 for 5", "a#2 is on the device only", "a#3 is in the backend only",
                "c#9 is in the backend only",
            ])
        #expect(StackOracle.differences(client, client) == [])
    }
}
