// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// The configuration is changed without a new schema version (finding 25).
@Suite(.timeLimit(.minutes(5))) struct ChangedMappingTests {
    /// A device that has synced with the quickstart's configuration, and then meets another one.
    private static func after(
        _ change: (String) -> String, seeded: @escaping @Sendable (GatewayStack) async throws -> Void = { _ in },
        _ body: (GatewayStack, inout StackDevice) async throws -> Void
    ) async throws {
        let (old, quickstart) = (StackOptions(), try StackConfiguration.quickstart())
        var new = old
        new.configuration = change(quickstart)
        #expect(new.configuration != quickstart)
        try await GatewayStack.withBackend(old) { backend, directory in
            var device = try await GatewayStack.with(old, backend: backend, directory: directory) { stack in
                try await stack.seedForMigration()
                try await seeded(stack)
                return try await stack.quietDevice(version: 3)
            }
            try await GatewayStack.with(new, backend: backend, directory: directory) { stack in
                device.http = stack.http
                _ = backend.takeSentLines()
                try await body(stack, &device)
            }
        }
    }

    @Test func `25: a table with another mapping is compared, and only that`() async throws {
        try await Self.after({ $0.replacing("\nnote = string?\n", with: "\nnote = string? name\n") }) { stack, device in
            let (answer, _) = try await device.pull()
            #expect(try await stack.figures(of: answer)["sweep"] == "TasksV2")
            let tasks = try await stack.records("tasks")
            #expect(try PulledChanges(answer).brief == tasks.keys.map { "updated tasks#\($0)" }.sorted())
            let names = try #require(device.model.contents["tasks"]).allSatisfy { $0.value["note"] == $0.value["name"] }
            #expect(names)
            #expect(stack.repairs.isEmpty, "it is no fault of the backend")
            let sent = stack.backend.takeSentLines()
            #expect(sent["TaskV2"] == 240 && Set(sent.keys) == ["TaskV2", "SyncCompleteV1"])
            // And that was it.
            let (second, _) = try await device.pull()
            #expect(try PulledChanges(second).isEmpty)
            #expect(try await stack.figures(of: second)["sweep"] == nil)
            #expect(stack.backend.takeSentLines() == ["SyncCompleteV1": 1])
        }
    }

    @Test func `25: of two tables one is compared with each pull`() async throws {
        try await Self.after({
            $0.replacing("\nnote = string?\n", with: "\nnote = string? name\n")
                .replacing("\nlabel = string\n", with: "\nlabel = string id\n")
        }) { stack, device in
            var comparisons: [String] = []
            var brief: [String] = []
            for _ in 0..<3 {
                let (answer, _) = try await device.pull()
                if let comparison = try await stack.figures(of: answer)["sweep"] { comparisons.append(comparison) }
                brief += try PulledChanges(answer).brief
            }
            #expect(comparisons.sorted() == ["TagsV1", "TasksV2"])
            #expect(brief.count == 242 && brief.contains("updated tags#ada-tag-1"))
        }
    }

    @Test func `a mapping that says the same in other words is compared, and nothing is sent`() async throws {
        try await Self.after({ $0.replacing("\nnote = string?\n", with: "\nnote = string? note\n") }) { stack, device in
            let (answer, _) = try await device.pull()
            #expect(try PulledChanges(answer).isEmpty)
            try await stack.expectEqual(device)
        }
    }
}
