// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Calls that list, set and forget checkpoints, and that fail or whose answers are lost after they have worked.
@Suite(.timeLimit(.minutes(5))) struct AckCallTests {
    /// What goes wrong with which call.
    struct Failure: Sendable, CustomTestStringConvertible {
        let method: String
        let action: DemoFault.Action
        let outcome: String

        var testDescription: String { "\(method) /sync/ack \(action)" }

        static let all =
            ["GET", "POST", "DELETE"].flatMap { method in
                [
                    Failure(method: method, action: .status(500), outcome: "502 backend.failed"),
                    Failure(method: method, action: .status(401), outcome: "401 backend.credential"),
                    Failure(method: method, action: .status(429, retryAfter: 9), outcome: "429 backend.busy"),
                    Failure(method: method, action: .loseAnswer, outcome: "502 backend.closed"),
                ]
            } + [
                Failure(method: "GET", action: .status(400), outcome: "502 backend.refused"),
                // Neither single names nor everything at once is forgotten.
                Failure(method: "DELETE", action: .status(400), outcome: "502 backend.refused"),
            ]
    }

    @Test(arguments: Failure.all)
    func `a failed checkpoint call fails the pull and confuses neither device`(_ failure: Failure) async throws {
        try await GatewayStack.with(StackOptions(["pull.repeat_window": "0s"])) { stack in
            try await stack.seed(tasks: 12)
            // Two devices on one session, so that every switch has to move the checkpoints.
            var devices = [
                try await stack.device(token: "device-a", seed: 1), try await stack.device(token: "device-a", seed: 2),
            ]
            for place in [0, 1, 0, 1] { try await devices[place].sync() }
            var failures = 0
            for round in 0..<6 {
                let place = round % 2
                let edits: [DemoEdit] = [
                    .put("tasks", ["id": .string("t-\(round)"), "name": .string("round \(round)")]),
                    .delete("tasks", "t-\(11 - round)"),
                ]
                try await stack.backend.edit(edits)
                stack.backend.inject(DemoFault(failure.method, "/sync/ack", times: 2, action: failure.action))
                do {
                    try await devices[place].sync()
                } catch StackDevice.Failure.pull(let answer) {
                    failures += 1
                    #expect(answer.outcome == failure.outcome)
                }
                stack.backend.clearFaults()
                // The other one comes between the failure and the next attempt.
                if round % 3 == 2 { try await devices[1 - place].sync() }
                try await devices[place].sync()
                try await stack.expectEqual(devices[place])
            }
            #expect(failures > 0)
            for place in [1, 0] {
                try await devices[place].sync()
                try await stack.expectEqual(devices[place])
            }
        }
    }

    @Test(arguments: [1, 2])
    func `a namespace whose name the backend no longer takes stops no device`(refusals: Int) async throws {
        try await GatewayStack.with(StackOptions(["pull.repeat_window": "0s"])) { stack in
            try await stack.seed(tasks: 12)
            var devices = [
                try await stack.device(token: "device-a", seed: 1), try await stack.device(token: "device-a", seed: 2),
            ]
            for place in [0, 1, 0, 1] { try await devices[place].sync() }
            try await stack.backend.edit(.delete("tasks", "t-1"), .put("tasks", ["id": "t-2", "name": "new"]))
            // The other device's deletion has left a checkpoint of which this one knows nothing.
            for _ in 0..<2 { try await devices[1].sync() }
            let calls = stack.backend.count("DELETE", "/sync/ack")
            stack.backend.inject(DemoFault("DELETE", "/sync/ack", action: .status(400)))
            if refusals == 2 { stack.backend.inject(DemoFault("POST", "/sync/ack", action: .status(400))) }
            var device = devices[0]
            let answer = try await device.sync().pull
            #expect(stack.backend.count("DELETE", "/sync/ack") >= calls + 2)
            let figures = try await stack.figures(of: answer)
            #expect(figures["restart"] == (refusals == 2 ? "refused_tokens" : nil))
            try await stack.expectEqual(device)
        }
    }

    @Test func `checkpoints that the backend no longer takes stop no device`() async throws {
        var options = StackOptions(["pull.unknown_cursor": "replacement", "pull.repeat_window": "0s"])
        // What is compressed comes late, and not at all before a cut.
        options.backend.compresses = false
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 12)
            var client = ClientModel.Options()
            client.passesWholeAnswer = true
            var devices = [
                try await stack.device(token: "device-a", options: client, seed: 1),
                try await stack.device(token: "device-a", options: client, seed: 2),
            ]
            for place in [0, 1, 0, 1] { try await devices[place].sync() }
            try await stack.backend.edit(.delete("tasks", "t-0"), .put("tags", ["id": "ada-tag-0", "label": "new"]))
            stack.backend.inject(DemoFault("POST", "/sync/ack", action: .status(400)))
            let answer = try await devices[0].sync().pull
            #expect(try await stack.figures(of: answer)["restart"] == "refused_tokens")
            try await stack.expectEqual(devices[0])
            try await devices[1].sync()
            try await stack.expectEqual(devices[1])
            // Where nothing at all is taken, the pull fails and the next one is as good as this.
            stack.backend.inject(DemoFault("POST", "/sync/ack", times: 9, action: .status(400)))
            stack.backend.inject(.stream { $0.cutAfterLines = 3 })
            let refused = try await devices[0].pullLosingAnswer()
            #expect(refused.outcome == "502 backend.tokens_refused")
            stack.backend.clearFaults()
            try await devices[0].sync()
            try await stack.expectEqual(devices[0])
        }
    }

    @Test func `a first sync whose forgetting was answered by nobody starts from nothing all the same`() async throws {
        try await GatewayStack.with { stack in
            try await stack.seed(tasks: 12)
            var device = try await stack.device(token: "device-a", seed: 1)
            for _ in 0..<2 { try await device.sync() }
            // Twice, since a connection that dies is replaced once without a word.
            for action in [DemoFault.Action.loseAnswer, .status(500)] {
                var fresh = try await stack.device(token: "device-a", seed: 2)
                stack.backend.inject(DemoFault("DELETE", "/sync/ack", times: 2, action: action))
                await #expect(throws: StackDevice.Failure.self) { try await fresh.sync() }
                stack.backend.clearFaults()
                try await fresh.sync()
                try await stack.expectEqual(fresh)
                try await device.sync()
                try await stack.expectEqual(device)
            }
        }
    }
}
