// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Logging
import Testing

/// Calls of the configuration that lead elsewhere.
@Suite(.timeLimit(.minutes(5))) struct WrongCallTests {
    /// A key with a value that is wrong, and what the log says.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let key: String
        let value: String
        let outcome: String
        let call: String
        let path: String
        var status: String? = "404"

        var testDescription: String { "\(key) = \(value)" }
    }

    @Test(arguments: [
        Mistake(
            key: "backend.stream", value: #"POST /sync/streams body {"types":"{types}"}"#,
            outcome: "502 backend.refused", call: "stream", path: "/sync/streams"),
        Mistake(
            key: "backend.forget", value: #"DELETE /sync/acks body {"types":"{namespaces}"}"#,
            outcome: "502 backend.refused", call: "forget", path: "/sync/acks"),
        Mistake(
            key: "identity.principal", value: "backend:GET /api/users/me id", outcome: "502 backend.refused",
            call: "principal", path: "/api/users/me"),
        Mistake(
            key: "identity.principal", value: "backend:GET /users/me userId", outcome: "502 identity.no_principal",
            call: "principal", path: "/users/me", status: nil),
    ])
    func `a call that leads elsewhere is named in one line at info`(_ mistake: Mistake) async throws {
        try await GatewayStack.with(StackOptions([mistake.key: mistake.value])) { stack in
            let answer = try await stack.sendPull()
            #expect(answer.outcome == mistake.outcome)
            let lines = stack.log.lines.filter { $0.level == .info && $0.metadata["call"] != nil }
            #expect(lines.count == 1)
            let line = try #require(lines.first?.metadata)
            #expect(line["call"] == mistake.call && line["backend_path"] == mistake.path)
            #expect(line["backend_status"] == mistake.status)
            #expect(line["code"] == mistake.outcome.split(separator: " ").last.map(String.init))
            #expect(line["request_id"] == answer["X-Request-Id"])
        }
    }

    @Test(arguments: [("principal", "GET", "/users/me"), ("ack", "POST", "/sync/ack")])
    func `a call whose connection is closed is named in one line at info`(
        _ call: String, _ method: String, _ path: String
    ) async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 12)
            var device = try await stack.device(token: "device-a", seed: 1)
            if call == "ack" {
                // The next pull sets what this one has brought.
                try await device.sync()
                try await stack.backend.edit(.put("tags", ["id": "t-1", "label": "new"]))
                try await device.sync()
            }
            // A request whose kept connection is dead is sent again on a new one.
            stack.backend.inject(DemoFault(method, path, times: 3, action: .loseRequest))
            var outcome: RawAnswer?
            do { try await device.sync() } catch StackDevice.Failure.pull(let answer) { outcome = answer }
            #expect(outcome?.outcome == "502 backend.closed")
            let lines = stack.log.lines.filter { $0.level == .info && $0.metadata["call"] != nil }
            #expect(lines.count == 1)
            let line = try #require(lines.first)
            #expect(line.message == "a call to the backend failed")
            #expect(line.metadata["call"] == call && line.metadata["backend_path"] == path)
            #expect(line.metadata["code"] == "backend.closed")
            #expect(line.metadata["request_id"] == outcome?["X-Request-Id"])
        }
    }

    @Test func `an ack path that is not there costs one stream anew, and fails every pull behind it`() async throws {
        let ack = #"POST /sync/acks body {"acks":"{acks}"}"#
        try await GatewayStack.with(StackOptions(["backend.ack": ack, "pull.repeat_window": "0s"])) { stack in
            try await stack.seed(tasks: 12)
            var device = try await stack.device(token: "device-a", seed: 1)
            try await device.sync()
            var outcomes: [String] = []
            for round in 0..<4 {
                try await stack.backend.edit(.put("tags", ["id": .string("t-\(round)"), "label": "new"]))
                let streams = stack.backend.count("POST", "/sync/stream")
                do { try await device.sync() } catch StackDevice.Failure.pull(let answer) {
                    outcomes.append(answer.outcome)
                    #expect(stack.backend.count("POST", "/sync/stream") == streams)
                }
            }
            #expect(outcomes.count >= 2 && Set(outcomes) == ["502 backend.ack_refused"])
            let lines = stack.log.lines.filter { $0.metadata["call"] == "ack" }
            #expect(lines.count == outcomes.count + 1)
            #expect(
                lines.allSatisfy {
                    $0.metadata["backend_path"] == "/sync/acks" && $0.metadata["backend_status"] == "404"
                })
            #expect(stack.syncLines.count { $0.metadata["restart"] == "refused_tokens" } == 1)
        }
    }

    @Test func `a session whose checkpoints are gone stops none of its devices`() async throws {
        try await GatewayStack.with(StackOptions(["pull.repeat_window": "0s"])) { stack in
            try await stack.seed(tasks: 12)
            var devices: [StackDevice] = []
            for seed in 1...3 { devices.append(try await stack.device(token: "device-a", seed: UInt64(seed))) }
            for _ in 0..<2 { for place in devices.indices { try await devices[place].sync() } }
            // One after the other comes with checkpoints of before, and none of the first comes again meanwhile.
            for place in devices.indices {
                try await stack.backend.edit(.put("tags", ["id": .string("t-\(place)"), "label": "new"]))
                stack.backend.inject(DemoFault("POST", "/sync/ack", action: .status(404)))
                try await devices[place].sync()
                stack.backend.clearFaults()
                try await stack.expectEqual(devices[place])
            }
            #expect(stack.syncLines.count { $0.metadata["restart"] == "refused_tokens" } == 3)
        }
    }

    @Test func `a backend that does not find a checkpoint any more stops no device`() async throws {
        try await GatewayStack.with(StackOptions(["pull.repeat_window": "0s"])) { stack in
            try await stack.seed(tasks: 12)
            var device = try await stack.device(token: "device-a", seed: 1)
            for _ in 0..<2 { try await device.sync() }
            for round in 0..<3 {
                try await stack.backend.edit(.put("tags", ["id": .string("t-\(round)"), "label": "new"]))
                stack.backend.inject(DemoFault("POST", "/sync/ack", action: .status(404)))
                try await device.sync()
                try await stack.backend.edit(.put("tags", ["id": .string("u-\(round)"), "label": "new"]))
                stack.backend.clearFaults()
                try await device.sync()
                try await stack.expectEqual(device)
            }
        }
    }
}
