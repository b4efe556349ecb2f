// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Backends that send a type's deletions behind its rows, against BACKEND-PROTOCOL, 3.9.
@Suite(.timeLimit(.minutes(5))) struct LateDeletionLineTests {
    private static func with(
        _ checkpoints: String, _ body: (GatewayStack, inout StackDevice) async throws -> Void
    ) async throws {
        var options = StackOptions()
        options.backend.sendsDeletesLast = true
        if checkpoints == "request" { options.configuration = try StackConfiguration.withRequestCheckpoints() }
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 3)
            try await stack.backend.edit(
                .put("tags", ["id": "red", "label": "Red"]), .put("task_tags", ["taskId": "t-0", "tagId": "red"]))
            var device = try await stack.device()
            for _ in 0..<2 { try await device.sync() }
            try await body(stack, &device)
        }
    }

    @Test(arguments: ["server", "request"])
    func `a record that was deleted and made again stays, and the next pull looks again`(
        checkpoints: String
    ) async throws {
        try await Self.with(checkpoints) { stack, device in
            try await stack.backend.edit(.delete("task_tags", ["t-0", "red"]), .delete("tags", "red"))
            try await stack.backend.edit(
                .put("tags", ["id": "red", "label": "Red again"]), .put("task_tags", ["taskId": "t-0", "tagId": "red"]))
            try await device.sync()
            #expect(device.model.contents["tags"]?["red"]?["label"] == "Red again")
            try await stack.expectEqual(device)
            #expect(stack.logged("ledger.sweep_suspended").count == 1)
            for _ in 0..<3 { try await device.sync() }
            try await stack.expectEqual(device)
            #expect(stack.logged("ledger.sweep_suspended").count == 1)
        }
    }

    @Test(arguments: ["server", "request"])
    func `a deleted record goes, and a first sync is right`(checkpoints: String) async throws {
        try await Self.with(checkpoints) { stack, device in
            try await stack.backend.edit(.delete("task_tags", ["t-0", "red"]), .delete("tags", "red"))
            try await device.sync()
            try await stack.expectEqual(device)
            try await stack.backend.edit(.put("tags", ["id": "red", "label": "Red again"]))
            var other = try await stack.device(seed: 2)
            try await other.sync()
            try await stack.expectEqual(other)
        }
    }
}
