// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// What a client has pushed comes back at most once, and never in `created`: that would undo what its user has
/// deleted since.
@Suite(.timeLimit(.minutes(5))) struct EchoTests {
    /// How an app pushes, and what becomes of the answer.
    enum Pushing: CaseIterable, Sendable {
        /// As the documentation has it.
        case plainly
        /// Without `lastPulledAt`, as a third of all apps.
        case withoutTime
        /// With the time from before the pull of the same sync.
        case withOldTime
        /// The backend takes it, and the answer is lost.
        case losingAnswer
        /// The backend takes it, and the gateway does not hear of it.
        case losingBackendAnswer
    }

    /// What `synchronize()` does, with a push of this kind; a push that fails leaves everything to the next sync.
    private static func sync(_ device: inout StackDevice, _ stack: GatewayStack, _ pushing: Pushing) async throws {
        let before = device.model.lastPulledAt
        try await device.pull()
        let changes = device.model.fetchLocalChanges()
        guard !changes.isEmpty else { return }
        let time = [.withoutTime: nil, .withOldTime: before][pushing] ?? device.model.lastPulledAt
        if pushing == .losingBackendAnswer {
            stack.backend.inject(DemoFault("POST", "/sync/push", times: 9, action: .loseAnswer))
        }
        let answer = try await device.send(device.shape.push(changes, lastPulledAt: time))
        stack.backend.clearFaults()
        #expect(answer.isSuccess == (pushing != .losingBackendAnswer), "\(answer)")
        if answer.isSuccess, pushing != .losingAnswer { device.model.markAsSynced(changes, answer: answer.body) }
    }

    @Test(arguments: Pushing.allCases)
    func `create, sync, delete, sync keeps the record deleted`(_ pushing: Pushing) async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 3)
            var devices = try await stack.quietDevices(["device-a", "device-b"])
            try devices[0].model.create("tags", id: "own", ["label": "mine"])
            try devices[0].model.update("tasks", "t-0", with: ["name": "mine"])
            try await Self.sync(&devices[0], stack, pushing)
            #expect(try await stack.records("tags")["own"] != nil)
            try devices[0].model.delete("tags", "own")

            let pulled = try PulledChanges(await devices[0].pull().answer)
            #expect(pulled.created == [:] && pulled.deleted == [:])
            #expect(pulled.updated["tags"]?.keys.sorted() == ["own"])
            #expect(devices[0].model.record("tags", "own")?.status == .deleted)
            try await Self.sync(&devices[0], stack, .plainly)
            #expect(try await stack.records("tags")["own"] == nil)
            for _ in 0..<2 { try await devices[0].sync() }
            #expect(devices[0].model.record("tags", "own") == nil && !devices[0].model.hasUnsyncedChanges)
            for place in [0, 1] {
                try await devices[place].sync()
                try await stack.expectEqual(devices[place])
            }
        }
    }

    @Test(arguments: [Pushing.plainly, .withoutTime, .withOldTime])
    func `an echo comes once in updated, and not at all the second time`(_ pushing: Pushing) async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 3)
            var devices = try await stack.quietDevices(["device-a", "device-a"])
            try devices[0].model.create("tags", id: "own", ["label": "mine"])
            try devices[0].model.update("tasks", "t-0", with: ["name": "mine"])
            try await Self.sync(&devices[0], stack, pushing)
            let own = devices[0].model.database
            for place in [0, 1] {
                // The user's other devices learn of it the same way.
                let (answer, _) = try await devices[place].pull()
                #expect(try PulledChanges(answer).brief == ["updated tags#own", "updated tasks#t-0"])
                #expect(try await stack.figures(of: answer)["echoes"] == "2")
            }
            #expect(devices[0].model.database.tables == own.tables, "it is what the device has")
            for place in [0, 1] { try await devices[place].expectPull([]) }
            // The backend sends the rows again as they are: by now their content is known.
            try await stack.backend.edit(
                .put("tags", ["id": "own", "label": "mine"]), .put("tasks", ["id": "t-0", "name": "mine"]))
            for place in [0, 1] { try await devices[place].expectPull([]) }
        }
    }

    @Test func `a pushed edit that another user has overwritten comes as it is now`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 3)
            var device = try await stack.quietDevices()[0]
            let before = try #require(device.model.record("tasks", "t-0")?.values["name"])
            try device.model.update("tasks", "t-0", with: ["name": "mine"])
            try await Self.sync(&device, stack, .withoutTime)
            // Back to what the ledger has a hash of: it is not taken for known.
            guard case .string(let name) = before else { return }
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": .string(name)]))
            try await device.expectPull(["updated tasks#t-0"])
            try await stack.expectEqual(device)
        }
    }

    @Test func `a record whose push was refused survives a reset`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 3)
            var device = try await stack.quietDevices()[0]
            try device.model.create("tags", id: "own", ["label": "mine"])
            stack.backend.rejectedIDs = ["own"]
            await #expect(throws: StackDevice.Failure.self) { try await device.sync() }
            try await stack.demandReset()
            try await device.expectPull([])
            #expect(device.model.record("tags", "own")?.status == .created)
            stack.backend.rejectedIDs = []
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }
}
