// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import SQLiteState
import StateStore
import SyncModel
import Testing

/// Devices that come back with an older cursor: restored from a backup, cloned, or long in a drawer.
@Suite(.timeLimit(.minutes(5))) struct OlderCursorTests {
    /// A device with its backup, after which much has happened: more than the base of the ledger lags behind.
    private static func restored(_ stack: GatewayStack, rounds: Int = 70) async throws -> StackDevice {
        try await stack.seed(tasks: 90)
        var device = try await stack.quietDevices()[0]
        let backup = device.model.database
        try await stack.backend.edit(
            .delete("tasks", "t-1"), .put("tasks", ["id": "t-new", "projectId": "p-0"]),
            .put("tasks", ["id": "t-2", "name": "changed"]))
        for round in 0..<rounds {
            try await device.pull()
            try await stack.backend.edit(
                .put(
                    "tasks", ["id": .string("t-\(10 + round)"), "name": .string("round \(round)"), "projectId": "p-0"]))
        }
        try await device.sync()
        // Something came and went in the meantime, something was made anew.
        try await stack.backend.edit(.delete("tasks", "t-new"), .put("tasks", ["id": "t-1", "projectId": "p-1"]))
        try await device.sync()
        try await stack.expectEqual(device)
        device.model.restore(backup)
        return device
    }

    /// What a device that has nothing of it lacks.
    private static let missed: [String] = {
        let changed = (10..<80).map { "updated tasks#t-\($0)" }
        return (changed + ["updated tasks#t-1", "updated tasks#t-2"]).sorted()
    }()

    @Test func `a backup within the time of rewind goes on from where it stood, exactly`() async throws {
        try await GatewayStack.with { stack in
            var device = try await Self.restored(stack)
            #expect(!stack.log.lines(containing: "a ledger was compacted").isEmpty)
            try device.model.update("tasks", "t-3", with: ["note": "mine"])
            let (answer, _) = try await device.pull()
            #expect(try PulledChanges(answer).brief == Self.missed)
            #expect(try await stack.figures(of: answer)["restart"] == nil)
            try await device.sync()
            try await stack.expectEqual(device)
            try await device.expectPull(["updated tasks#t-3"])
            try await device.expectPull([])
        }
    }

    @Test func `a backup from before the time of rewind gets everything and what is gone, nothing as created`()
        async throws
    {
        try await GatewayStack.with { stack in
            var device = try await Self.restored(stack)
            let now = try #require(try await stack.store.newestCursor()).time
            let collected = try await stack.store.collect(Retention(now: now, seenBefore: 0, undoBefore: now))
            #expect(collected.undos > 0)
            try device.model.create("tags", id: "own", ["label": "mine"])
            try device.model.update("tasks", "t-3", with: ["note": "mine"])
            try device.model.delete("tasks", "t-4")
            let (answer, _) = try await device.pull()
            let pulled = try PulledChanges(answer)
            #expect(try await stack.figures(of: answer)["restart"] == "older_than_ledger")
            #expect(pulled.created == [:] && pulled.repeated == [])
            #expect(Set(pulled.updated["tasks", default: [:]].keys) == Set(try await stack.records("tasks").keys))
            // It was deleted in the meantime, and it is unknown if this device has it.
            #expect(pulled.deleted == ["tasks": ["t-new"]])
            #expect(device.model.record("tags", "own")?.status == .created)
            #expect(device.model.record("tasks", "t-3")?.status == .updated)
            #expect(device.model.record("tasks", "t-4")?.status == .deleted)
            try await device.push()
            try await device.sync()
            try await stack.expectEqual(device)
            try await device.expectPull([])
        }
    }

    @Test func `a cursor that was collected is compared with what all devices of the user hold`() async throws {
        try await GatewayStack.with { stack in
            var device = try await Self.restored(stack)
            var tablet = try await stack.device(token: "device-b", seed: 9)
            for _ in 0..<2 { try await tablet.sync() }
            try await stack.lose("tasks", ["t-5"])
            let now = try #require(try await stack.store.newestCursor()).time
            let collected = try await stack.store.collect(
                Retention(now: now, seenBefore: 0, supersededBefore: now, undoBefore: now))
            #expect(collected.cursors > 0)
            let (answer, _) = try await device.pull()
            let pulled = try PulledChanges(answer)
            #expect(try await stack.figures(of: answer)["restart"] == "unknown_cursor")
            #expect(pulled.created == [:])
            #expect(pulled.deleted["tasks"]?.isSuperset(of: ["t-5", "t-new"]) == true)
            try await stack.expectEqual(device)
            try await device.expectPull([])
            try await tablet.expectPull([])
        }
    }

    @Test func `a phone that was cloned lives on twice`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 20)
            var phone = try await stack.quietDevices()[0]
            var clone = phone
            clone.model = phone.model.clone()
            for round in 0..<4 {
                try await stack.backend.edit(
                    .put("tasks", ["id": "t-0", "name": .string("round \(round)")]),
                    .delete("tasks", "t-\(round + 1)"),
                    .put("tasks", ["id": .string("n-\(round)"), "projectId": "p-0"]))
                let expected = ["created tasks#n-\(round)", "deleted tasks#t-\(round + 1)", "updated tasks#t-0"]
                try await phone.expectPull(expected)
                try await clone.expectPull(expected)
                try await stack.expectEqual(phone)
                try await stack.expectEqual(clone)
            }
            #expect(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 10).count == 2)
            // What one of them pushes reaches the other, although they were one.
            try phone.model.update("tasks", "t-10", with: ["name": "from the phone"])
            try clone.model.update("tasks", "t-11", with: ["name": "from the clone"])
            for _ in 0..<2 {
                try await phone.sync()
                try await clone.sync()
            }
            try await stack.expectEqual(phone)
            try await stack.expectEqual(clone)
        }
    }

    @Test func `an operator's resync brings what differs and nothing else`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 20)
            var device = try await stack.quietDevices()[0]
            try await stack.lose("tasks", ["t-1"])
            let replica = try #require(try await stack.store.inspection.replicas(of: nil, after: nil, limit: 10).first)
            let now = try #require(try await stack.store.newestCursor()).time
            try await stack.store.change(replica.principal) { try ReplicaRules.resync(replica.id, at: now, in: &$0) }
            let (answer, _) = try await device.pull()
            #expect(try PulledChanges(answer).deleted == ["tasks": ["t-1"]])
            #expect(try PulledChanges(answer).created == [:])
            #expect(try await stack.figures(of: answer)["restart"] == "resync")
            try await stack.expectEqual(device)
            try await device.expectPull([])
        }
    }

    @Test(arguments: [(1, false), (70, false), (1, true), (70, true)])
    func `a device whose ledger cannot be read gets everything, another ledger, and goes on`(
        _ rounds: Int, isMissing: Bool
    ) async throws {
        try await GatewayStack.withBackend { backend, directory in
            let options = StackOptions()
            var device = try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                try await stack.seed(tasks: 20)
                var device = try await stack.quietDevices()[0]
                for round in 0..<rounds {
                    try await stack.backend.edit(.put("tasks", ["id": "t-3", "name": .string("round \(round)")]))
                    try await device.pull()
                }
                return device
            }
            try await backend.edit(.delete("tasks", "t-1"), .delete("comments", "c-2"))
            try StateDump.damage("tasks", path: "\(directory)/state.db", deletes: isMissing)
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                device.http = stack.http
                let (answer, _) = try await device.pull()
                #expect(try await stack.figures(of: answer)["restart"] == "damaged_ledger")
                let changes = try PulledChanges(answer)
                #expect(changes.created == [:] && changes.deleted["comments"] == ["c-2"])
                #expect(stack.logged("ledger.damaged").count == 1)
                try await stack.expectEqual(device)
                try await stack.backend.edit(.delete("tasks", "t-2"))
                try await device.expectPull(["deleted tasks#t-2"])
                try await device.expectPull([])
                #expect(stack.logged("ledger.damaged").count == 1)
            }
        }
    }

    @Test(arguments: ["replica", "principal"])
    func `what cannot be read of a device or a user is named in the log`(table: String) async throws {
        try await GatewayStack.withBackend { backend, directory in
            var device = try await GatewayStack.with(StackOptions(), backend: backend, directory: directory) { stack in
                try await stack.seed(tasks: 5)
                return try await stack.quietDevices()[0]
            }
            try StateDump.execute("UPDATE \(table) SET data = x'0102'", path: "\(directory)/state.db")
            try await GatewayStack.with(StackOptions(), backend: backend, directory: directory) { stack in
                device.http = stack.http
                guard table == "replica" else {
                    #expect(try await device.pullLosingAnswer().errorCode == "state.corrupt")
                    try await eventually { stack.logged("state.corrupt").count == 1 }
                    let cause = stack.logged("state.corrupt").first?.metadata["cause"]
                    #expect(cause?.contains("rind principals erase") == true)
                    return
                }
                let (answer, _) = try await device.pull()
                #expect(try await stack.figures(of: answer)["restart"] == "unknown_cursor")
                #expect(stack.logged("state.corrupt").map { $0.metadata["replica"]?.count } == [16])
                try await stack.expectEqual(device)
                try await device.expectPull([])
            }
        }
    }

    /// A directory is read as a whole only when the ledger is compacted.
    @Test(arguments: [true, false])
    func `a device whose directory of chunks is missing goes on with another ledger`(isFirst: Bool) async throws {
        try await GatewayStack.withBackend { backend, directory in
            var options = StackOptions()
            (options.state.limits.headChunks, options.state.limits.directoryChunks) = (8, 2)
            func edit(_ round: Int) async throws {
                try await backend.edit(.put("tasks", ["id": "t-3", "name": .string("round \(round)")]))
            }
            var device = try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                try await stack.seed(tasks: 500)
                var device = try await stack.quietDevices()[0]
                for round in 0..<50 {
                    try await edit(round)
                    try await device.pull()
                }
                return device
            }
            try StateDump.deleteDirectory(isFirst: isFirst, path: "\(directory)/state.db")
            try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                device.http = stack.http
                var reasons: [String] = []
                for round in 50..<80 {
                    try await edit(round)
                    let (answer, _) = try await device.pull()
                    #expect(answer.status == 200)
                    if let reason = try await stack.figures(of: answer)["restart"] { reasons.append(reason) }
                }
                #expect(reasons == ["damaged_ledger"])
                try await stack.expectEqual(device)
            }
        }
    }
}
