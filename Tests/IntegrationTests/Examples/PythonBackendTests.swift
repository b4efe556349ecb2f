// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import NIOConcurrencyHelpers
import Testing

/// The example `python-backend` as it is: the gateway's program, its configuration, and the backend in Python.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(
        if: GatewayProcess.isBuilt && PythonBackend.isRunnable, "there is no python3, or rind is not built"))
struct PythonBackendTests {
    @Test func `two devices of a user end equal to the backend in Python, and another user sees nothing of it`()
        async throws
    {
        try await Self.with { backend, gateway in
            var (phone, tablet) = (Self.device(1, gateway), Self.device(2, gateway))
            var other = Self.device(3, gateway, token: "bob-token")
            try await phone.sync()
            try await tablet.sync()
            #expect(phone.model.record("items", "fence")?.values["text"] == "Paint the fence")
            let list = try phone.model.create("lists", ["title": "Groceries", "created_at": 1_763_719_200_000])
            for number in 0..<3 {
                try phone.model.create(
                    "items",
                    [
                        "text": .string("thing \(number)"), "list_id": .string(list),
                        "position": .number(Double(number)),
                        "due_at": 1_763_719_200_123,
                    ])
            }
            try tablet.model.update("items", "fence", with: ["is_done": true])
            try await phone.sync()
            try await tablet.sync()
            // Another program changes the database, and a list goes with all that is in it.
            try backend.edit("UPDATE items SET position = 7, due_at = NULL WHERE text = 'thing 1'")
            try tablet.model.delete("lists", "garden")
            for _ in 0..<2 {
                try await tablet.sync()
                try await phone.sync()
            }
            #expect(try backend.contents(of: "u-ada")["items"]?.count == 3)
            for device in [phone, tablet] { try Self.expectEqual(device, backend) }

            try other.model.create("lists", ["title": "Bob's", "created_at": 1])
            try await other.sync()
            #expect(other.model.contents["lists"]?.count == 1 && other.model.contents["items"]?.isEmpty == true)
            try await phone.sync()
            try Self.expectEqual(phone, backend)
        }
    }

    @Test func `a push to the backend in Python is applied once under its key, as a whole or not at all`() async throws
    {
        try await Self.with { backend, gateway in
            let http = RawHTTPClient(port: backend.port)
            func push(_ key: String, _ lines: String) async throws -> RawAnswer {
                try await http.send(
                    "POST", "/sync/push", headers: [("Authorization", "Bearer ada-token"), ("Idempotency-Key", key)],
                    body: Array(lines.utf8))
            }
            func line(_ id: String, list: String = "garden") -> String {
                #"{"op":"create","table":"items","id":"\#(id)","key":{"id":"\#(id)"},"#
                    + #""data":{"text":"x","listId":"\#(list)"}}"# + "\n"
            }
            let first = try await push("k-1", line("a"))
            try backend.edit("DELETE FROM items WHERE id = 'a'")
            let again = try await push("k-1", line("a"))
            #expect(first.status == 200 && again.body == first.body)
            #expect(try await push("k-1", line("b")).status == 422)
            let refused = try await push("k-2", line("c") + line("d", list: "nowhere") + line("e", list: "none"))
            #expect(refused.status == 422 && refused.text.contains("\"d\"") && refused.text.contains("\"e\""))
            #expect(try Set((backend.contents(of: "u-ada")["items"] ?? [:]).keys) == ["fence"])

            // The app has lost the answer: its next sync pulls the record and pushes it once more.
            var phone = Self.device(1, gateway)
            try await phone.sync()
            try phone.model.create("items", ["text": "once", "list_id": "garden"])
            try await phone.pushLosingAnswer()
            try await phone.sync()
            #expect(try backend.contents(of: "u-ada")["items"]?.count == 2)
            try Self.expectEqual(phone, backend)
        }
    }

    @Test func `the backend in Python finds that another user has changed a record since`() async throws {
        try await Self.with { backend, gateway in
            var (phone, tablet) = (Self.device(1, gateway), Self.device(2, gateway))
            try await phone.sync()
            try await tablet.sync()
            try phone.model.update("items", "fence", with: ["text": "Paint the fence white"])
            try await phone.sync()
            try tablet.model.update("items", "fence", with: ["is_done": true])
            let refused = try await tablet.pushLosingAnswer()
            #expect(refused.status == 409 && refused.errorCode == "push.conflict")
            for _ in 0..<2 {
                try await tablet.sync()
                try await phone.sync()
            }
            #expect(phone.model.record("items", "fence")?.values["text"] == "Paint the fence white")
            for device in [phone, tablet] { try Self.expectEqual(device, backend) }
        }
    }

    /// Deletions that are forgotten, and a database that is not the one that made the device's tokens.
    @Test(arguments: ["UPDATE meta SET pruned = revision; DELETE FROM deletions", "UPDATE meta SET epoch = 'another'"])
    func `a reset by the backend in Python costs a device nothing but a difference`(_ cause: String) async throws {
        try await Self.with { backend, gateway in
            var phone = Self.device(1, gateway)
            try await phone.sync()
            try phone.model.create("items", ["text": "kept", "list_id": "garden"])
            try backend.edit("DELETE FROM items WHERE id = 'fence'")
            try backend.edit(cause)
            try await phone.sync()
            #expect(gateway.log.contains(#""restart":"reset""#))
            #expect(phone.model.contents["items"]?.count == 1)
            try await phone.sync()
            try Self.expectEqual(phone, backend)
        }
    }

    @Test func `the backend in Python knows that its restored database cannot have made a token`() async throws {
        // What was pushed a moment ago would stay for an hour.
        try await Self.with(adding: "\n[ledger]\nsettle = 0s\n") { backend, gateway in
            var phone = Self.device(1, gateway)
            try await phone.sync()
            try backend.edit("VACUUM INTO '\(backend.file).backup'")
            try phone.model.create("items", ["text": "made after the backup", "list_id": "garden"])
            try backend.edit("UPDATE items SET text = 'changed after it' WHERE id = 'fence'")
            for _ in 0..<2 { try await phone.sync() }
            #expect(phone.model.contents["items"]?.count == 2)
            for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: backend.file + ending) }
            try FileManager.default.copyItem(atPath: "\(backend.file).backup", toPath: backend.file)

            try phone.model.update("items", "fence", with: ["position": 7])
            try await phone.sync()
            #expect(gateway.log.contains(#""restart":"reset""#))
            #expect(phone.model.contents["items"]?.count == 1)
            for _ in 0..<2 { try await phone.sync() }
            #expect(phone.model.record("items", "fence")?.values["position"] == 7)
            try Self.expectEqual(phone, backend)
        }
    }

    @Test func `a gateway before the backend in Python is killed at any moment and loses nothing`() async throws {
        try await TemporaryDirectory.with { directory in
            try await PythonBackend.with(directory: directory) { backend in
                var gateway = try await Self.start(backend, directory)
                var devices = [Self.device(1, gateway), Self.device(2, gateway)]
                for number in [0, 1] { try await devices[number].sync() }
                for round in 0..<4 {
                    let place = round % 2
                    try devices[place].model.create("items", ["text": .string("made \(round)"), "list_id": "garden"])
                    try backend.edit("UPDATE items SET text = 'round \(round)' WHERE id = 'fence'")
                    let syncing = devices[place]
                    devices[place] = try await withThrowingTaskGroup(of: StackDevice.self) { group in
                        group.addTask {
                            var device = syncing
                            // Whatever the death makes of it, the app goes on with what it has.
                            _ = try? await device.sync()
                            return device
                        }
                        try await Task.sleep(for: .milliseconds(round * 12))
                        try await gateway.kill()
                        return try await group.next() ?? syncing
                    }
                    gateway = try await Self.start(backend, directory)
                    for number in [place, 1 - place] {
                        devices[number].http = gateway.http
                        for _ in 0..<2 { try await devices[number].sync() }
                        try Self.expectEqual(devices[number], backend)
                    }
                }
                #expect(try backend.contents(of: "u-ada")["items"]?.count == 5)
                try await gateway.kill()
            }
        }
    }

    private static func with(
        adding lines: String = "", _ body: (PythonBackend, GatewayProcess) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.with { directory in
            try await PythonBackend.with(directory: directory) { backend in
                let gateway = try await start(backend, directory, adding: lines)
                do {
                    try await body(backend, gateway)
                    try await gateway.kill()
                } catch {
                    try await gateway.kill()
                    throw error
                }
            }
        }
    }

    private static func start(
        _ backend: PythonBackend, _ directory: String, adding lines: String = ""
    ) async throws -> GatewayProcess {
        try await GatewayProcess.start(
            backend: backend.url, directory: directory,
            configuration: StackConfiguration.example("python-backend") + lines)
    }

    private static func device(_ seed: UInt64, _ gateway: GatewayProcess, token: String = "ada-token") -> StackDevice {
        StackDevice(
            model: ClientModel(schema: .python, version: 1, seed: seed), token: token, shape: .docs, http: gateway.http)
    }

    private static func expectEqual(
        _ device: StackDevice, _ backend: PythonBackend, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let differences = StackOracle.differences(device.model.contents, try backend.contents(of: "u-ada"))
        #expect(differences == [] && !device.model.hasUnsyncedChanges, sourceLocation: location)
    }
}
