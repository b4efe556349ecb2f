// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Users whose account the backend has deleted.
@Suite(.timeLimit(.minutes(5))) struct DeletedAccountTests {
    @Test(arguments: [(404, 401), (410, 410)], ["server", "request"])
    func `a caller whom the backend does not know any more is told so`(
        _ statuses: (backend: Int, client: Int), _ checkpoints: String
    ) async throws {
        var options = StackOptions(["identity.auth_ttl": "0s"])
        if checkpoints == "request" { options.configuration = try StackConfiguration.withRequestCheckpoints() }
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 3)
            var device = try await stack.quietDevices()[0]
            try device.model.update("tasks", "t-0", with: ["name": "mine"])
            let before = try stack.clientState()
            stack.backend.inject(
                DemoFault("GET", "/users/me", times: 1_000, action: .status(statuses.backend)))
            let pulled = try await device.pullLosingAnswer()
            #expect(pulled.outcome == "\(statuses.client) identity.gone")
            #expect(String(decoding: pulled.body, as: UTF8.self).hasPrefix("This account does not exist any more ("))
            let pushed = try await device.pushLosingAnswer()
            #expect(pushed.outcome == "\(statuses.client) identity.gone")
            #expect(stack.backend.count("POST", "/sync/push") == 0)
            #expect(try stack.clientState() == before)
        }
    }

    @Test func `an account that comes back goes on where it was`() async throws {
        try await GatewayStack.with(StackOptions(["identity.auth_ttl": "0s"])) { stack in
            try await stack.seed(tasks: 3)
            var device = try await stack.quietDevices()[0]
            stack.backend.inject(DemoFault("GET", "/users/me", action: .status(404)))
            #expect(try await device.pullLosingAnswer().status == 401)
            let (answer, _) = try await device.pull()
            #expect(try await stack.figures(of: answer)["mode"] == "idle")
        }
    }
}
