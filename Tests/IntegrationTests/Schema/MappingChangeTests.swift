// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Testing

/// What a change of the configuration costs devices that were there before.
@Suite(.timeLimit(.minutes(5))) struct MappingChangeTests {
    /// Syncs a device of version 3, changes the configuration, and gives what the log says of its next pull.
    private static func pullAfter(
        _ change: (String) -> String
    ) async throws -> [String: String] {
        try await GatewayStack.withBackend { backend, directory in
            let phone = try await GatewayStack.with(StackOptions(), backend: backend, directory: directory) { stack in
                try await stack.seed()
                var phone = try await stack.device()
                for _ in 0..<2 { try await phone.sync() }
                return phone
            }
            var options = StackOptions()
            options.configuration = change(try StackConfiguration.quickstart())
            return try await GatewayStack.with(options, backend: backend, directory: directory) { stack in
                var moved = phone
                moved.http = stack.http
                let answer = try await moved.pull().answer
                try await stack.expectEqual(moved)
                return try await stack.figures(of: answer)
            }
        }
    }

    @Test func `a column, a table and a wire type for newer clients have nothing compared`() async throws {
        let figures = try await Self.pullAfter {
            $0.replacing("version = 3", with: "version = 4")
                .replacing("name = string\nposition", with: "priority = number? since 4\nname = string\nposition")
                .replacing(
                    "[table tags]",
                    with: "[table labels]\nsince = 4\nrequest = LabelsV1\nupsert = LabelV1\n"
                        + "[columns labels]\ntext = string\n[table tags]"
                )
                .replacing("request = CommentsV1", with: "request = CommentsV1 then CommentsV2 since 4")
                .replacing("upsert = CommentV1, Comment", with: "upsert = CommentV1, CommentV2, Comment")
        }
        #expect(figures["mode"] == "idle")
        #expect(figures["sweep"] == nil && figures["restart"] == nil && figures["migration"] == nil)
    }

    @Test func `a column that all clients have makes its table due`() async throws {
        let figures = try await Self.pullAfter {
            $0.replacing("note = string?", with: "note = string? note | \"\"")
        }
        #expect(figures["sweep"] == "TasksV2")
    }
}
