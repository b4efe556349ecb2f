// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import SyncModel
import Testing

/// Two devices of one user that sync in turn, with everything going wrong that the network can do.
@Suite(.timeLimit(.minutes(5))) struct DevicePairTests {
    @Test(arguments: [false, true], [1, 2, 3] as [UInt64])
    func `two devices end equal to the backend although answers are lost`(
        _ ownSessions: Bool, _ seed: UInt64
    ) async throws {
        try await GatewayStack.with(StackOptions(["backend.resume_backoff": "2ms"])) { stack in
            var trouble = Trouble(stack: stack, seed: seed)
            try await trouble.makeRecords()
            var devices = [
                try await stack.device(token: "device-a", seed: 1),
                try await stack.device(token: ownSessions ? "device-b" : "device-a", seed: 2),
            ]
            var failures = 0
            for round in 0..<20 {
                try await trouble.editBackend(round)
                let place = Int(trouble.random.next() % 2)
                try trouble.edit(&devices[place], round)
                trouble.disturb()
                if trouble.random.next() % 5 == 0 { _ = try await devices[place].pullLosingAnswer() }
                do {
                    try await devices[place].sync()
                } catch is StackDevice.Failure {
                    failures += 1
                }
                stack.backend.clearFaults()
            }
            #expect(failures > 0)
            try await trouble.shareAll()
            for place in [0, 1, 0] { try await devices[place].sync() }
            for device in devices {
                try await stack.expectEqual(device)
                #expect(!device.model.hasUnsyncedChanges)
            }
        }
    }

    /// What happens to a stack by a seed.
    private struct Trouble {
        let stack: GatewayStack
        var random: SeededGenerator
        /// Bob's projects that Ada does not see at the moment.
        private var hidden: Set<Int> = []
        private let bob = DemoConfiguration.Account.bob.id
        private let ada = DemoConfiguration.Account.ada.id

        init(stack: GatewayStack, seed: UInt64) {
            self.stack = stack
            random = SeededGenerator(seed: seed)
        }

        /// One project of Ada's and two of Bob's that come and go, so that the backend writes checkpoints by itself.
        func makeRecords() async throws {
            try await stack.backend.edit(.put("projects", ["id": "own", "name": "Own"]))
            for project in 0..<2 {
                try await stack.backend.edit(
                    as: bob, .put("projects", ["id": .string("bob-\(project)"), "name": "Bob's"]),
                    .share(project: "bob-\(project)", with: ada))
            }
            for task in 0..<6 { try await write(task, in: task % 3, "first") }
        }

        /// Changes that the backend gets from elsewhere.
        mutating func editBackend(_ round: Int) async throws {
            let task = Int(random.next() % 6)
            let project = task % 3
            try await write(task, in: project, "round \(round)")
            let choice = Int(random.next() % 8)
            if choice < 2 {
                if hidden.contains(choice) {
                    try await stack.backend.edit(as: bob, .share(project: "bob-\(choice)", with: ada))
                    hidden.remove(choice)
                } else {
                    try await stack.backend.edit(as: bob, .revoke(project: "bob-\(choice)", from: ada))
                    hidden.insert(choice)
                }
            } else if choice == 2 {
                // Deleted and made anew by a later write.
                try await stack.backend.edit(.delete("tasks", "t-0"))
            }
        }

        func shareAll() async throws {
            for project in hidden.sorted() {
                try await stack.backend.edit(as: bob, .share(project: "bob-\(project)", with: ada))
            }
        }

        /// What the user does on the device.
        mutating func edit(_ device: inout StackDevice, _ round: Int) throws {
            guard device.model.lastPulledAt != nil else { return }
            switch random.next() % 4 {
            case 0: try device.model.create("tasks", ["name": .string("made \(round)"), "project_id": "own"])
            case 1: try device.model.create("tags", ["label": .string("tag \(round)")])
            case 2 where device.model.record("tasks", "t-3")?.status == .synced:
                try device.model.update("tasks", "t-3", with: ["note": .string("noted \(round)")])
            default: break
            }
        }

        /// What the network does to the next calls.
        mutating func disturb() {
            let methods = ["GET", "POST", "DELETE"]
            switch random.next() % 8 {
            case 0...2:
                let method = methods[Int(random.next() % 3)]
                stack.backend.inject(DemoFault(method, "/sync/ack", times: 2, action: .loseAnswer))
            case 3: stack.backend.inject(DemoFault("POST", "/sync/ack", times: 2, action: .status(500)))
            case 4: stack.backend.inject(.stream { $0.cutAfterLines = Int(random.next() % 6) })
            case 5:
                stack.backend.inject(.stream { $0.cutAfterLines = 1 })
                stack.backend.inject(DemoFault("POST", "/sync/ack", times: 2, action: .loseAnswer))
            case 6: stack.backend.inject(DemoFault("POST", "/sync/push", action: .loseAnswer))
            default: break
            }
        }

        private func write(_ task: Int, in project: Int, _ name: String) async throws {
            let owner = project == 0 ? ada : bob
            let place = project == 0 ? "own" : "bob-\(project - 1)"
            try await stack.backend.edit(
                as: owner,
                .put("tasks", ["id": .string("t-\(task)"), "name": .string(name), "projectId": .string(place)]))
        }
    }
}
