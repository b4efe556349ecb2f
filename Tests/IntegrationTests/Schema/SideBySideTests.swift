// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import SyncModel
import Testing

/// Two devices of one user, of which only one has the new version of the app.
@Suite(.timeLimit(.minutes(5))) struct SideBySideTests {
    struct Setting: CustomTestStringConvertible, Sendable {
        var tokens: [String]
        var ledger: String
        var seed: UInt64
        var testDescription: String { "\(tokens.joined(separator: " and ")), ledger \(ledger), seed \(seed)" }
    }

    static let settings = [["device-a", "device-a"], ["device-a", "device-b"]].flatMap { tokens in
        ["auto", "off"].flatMap { ledger in
            (1...2).map { Setting(tokens: tokens, ledger: ledger, seed: $0) }
        }
    }

    @Test(arguments: settings)
    func `each ends with what its version sees, and gets nothing else`(_ setting: Setting) async throws {
        let overrides = setting.ledger == "auto" ? [:] : ["ledger.mode": setting.ledger]
        try await GatewayStack.with(StackOptions(overrides)) { stack in
            try await stack.seed(tasks: 30)
            var devices: [StackDevice] = []
            for (place, version) in [1, 3].enumerated() {
                let seed = setting.seed * 10 + UInt64(place)
                devices.append(
                    try await stack.quietDevice(version: version, token: setting.tokens[place], seed: seed))
            }
            // Without a ledger it is unknown what has gone with a task.
            let kept = setting.ledger == "off" ? Set((0..<6).map { "t-\($0)" }) : []
            var world = World(random: SeededGenerator(seed: setting.seed), kept: kept)
            var pushed = 0
            for round in 0..<50 {
                try await world.edit(stack)
                let place = round % 2
                try world.edit(&devices[place].model)
                pushed += try await Self.sync(&devices[place]) ? 1 : 0
            }
            #expect(pushed > 20)
            for _ in 0..<3 {
                for place in [0, 1] { _ = try await Self.sync(&devices[place]) }
            }
            for device in devices {
                #expect(!device.model.hasUnsyncedChanges)
                try await stack.expectEqual(device)
            }
            // The first has not been dragged to the version of the second, nor the other way round.
            #expect(stack.log.lines(containing: "the client has a new schema version").isEmpty)
            #expect(devices[0].ids("tags") == [] && devices[1].ids("tags") != [])
        }
    }

    @Test func `when the older one is updated it alone is migrated`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seedForMigration()
            var devices = [
                try await stack.quietDevice(version: 1, token: "device-a", seed: 1),
                try await stack.quietDevice(version: 3, token: "device-a", seed: 2),
            ]
            try await stack.changeTwoHundred()
            devices[0].model.upgrade(to: 3)
            for place in [0, 1] {
                let answer = try await devices[place].sync().pull
                #expect(try await stack.migration(of: answer) == (place == 0 ? "1 to 3" : nil))
                try await stack.expectAsFresh(devices[place])
            }
        }
    }

    /// Syncs; whether something was pushed.
    ///
    /// A push that is in conflict is tried again with the next sync, as apps do.
    private static func sync(_ device: inout StackDevice) async throws -> Bool {
        let (answer, applied) = try await device.pull()
        let version = device.model.database.version
        let changes = try PulledChanges(answer)
        #expect(changes.strangers(to: device.model.schema, at: version) == [] && changes.repeated == [])
        #expect(!applied.log.contains { if case .unknownTable = $0 { true } else { false } })
        do {
            return try await device.push() != nil
        } catch StackDevice.Failure.push(let answer) where answer.status == 409 {
            return false
        }
    }

    /// Everybody who changes something.
    private struct World {
        var random: SeededGenerator
        /// Tasks that nobody deletes, and the only ones that anybody comments on; empty is no such rule.
        var kept: Set<String>
        var created = 0

        private mutating func pick(_ ids: some Collection<String>) -> String? {
            ids.sorted().randomElement(using: &random)
        }

        private mutating func name() -> String { "name \(Int.random(in: 0..<1000, using: &random))" }

        /// A few changes at the backend by another user.
        mutating func edit(_ stack: GatewayStack) async throws {
            let records = try await stack.backend.records()
            let tasks = records["tasks"]?.keys.sorted() ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let task = pick(tasks)?.demo ?? "none"
                let tag = pick((records["tags"] ?? [:]).keys)?.demo ?? "none"
                let due = DemoValue.number(1.6e12 + Double(Int.random(in: 0..<1000, using: &random)))
                created += 1
                let edit: DemoEdit =
                    switch Int.random(in: 0..<9, using: &random) {
                    case 0: .put("tasks", ["id": "w-\(created)".demo, "projectId": "p-0", "dueAt": due])
                    case 1: .put("tasks", ["id": task, "name": name().demo])
                    case 2: .put("tasks", ["id": task, "dueAt": Bool.random(using: &random) ? due : .null])
                    case 3 where !kept.contains(task.string ?? ""): .delete("tasks", task.string ?? "")
                    case 4:
                        .put(
                            "comments",
                            ["id": "w-\(created % 10)".demo, "taskId": pick(kept)?.demo ?? task, "body": name().demo])
                    case 5: .put("tags", ["id": "w-\(created % 10)".demo, "label": name().demo])
                    case 6: .put("task_tags", ["taskId": task, "tagId": tag])
                    case 7: .put("projects", ["id": "p-0", "color": name().demo])
                    default: .put("projects", ["id": "p-1", "name": name().demo])
                    }
                // What an edit before has deleted would come to life again.
                if tasks.isEmpty { continue }
                try await stack.backend.edit(edit)
            }
        }

        /// A few changes on a device.
        mutating func edit(_ model: inout ClientModel) throws {
            let version = model.database.version
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                guard let task = pick((model.contents["tasks"] ?? [:]).keys) else { continue }
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    try model.create("tasks", ["name": .string(name()), "project_id": "p-0"], now: 1_700_000_000_000)
                case 2: try model.update("tasks", task, with: ["name": .string(name())])
                case 3 where !kept.contains(task): try model.delete("tasks", task)
                case 4 where version == 3:
                    let due = ClientValue.number(1.6e12 + Double(Int.random(in: 0..<1000, using: &random)))
                    try model.update("tasks", task, with: ["due_at": Bool.random(using: &random) ? due : .null])
                case 5 where version == 3: try model.create("tags", ["label": .string(name())])
                default: try model.update("projects", "p-1", with: ["is_archived": .boolean(.random(using: &random))])
                }
            }
        }
    }
}
