// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// The example `integer-ids` as it is.
@Suite(.timeLimit(.minutes(5))) struct IntegerIDExampleTests {
    @Test func `two devices of one user and one of another write records with integer ids and end equal`()
        async throws
    {
        try await GatewayStack.with(try .integerIDs()) { stack in
            var (first, second) = (try await Self.device(stack, 1), try await Self.device(stack, 2))
            var other = try await Self.device(stack, 3, of: "bob@example.com")
            try await other.sync()
            // Both users' apps have made the same ids.
            for name in ["Ada's", "Bob's"] {
                var device = name == "Ada's" ? first : other
                try device.model.create("folders", id: "F", ["name": .string(name)])
                try device.model.create("folders", id: "B", ["name": .string("\(name)-inner"), "parent_id": "F"])
                try device.model.create("notes", id: "N", ["title": .string("\(name)-note"), "folder_id": "B"])
                try device.model.create("notes", id: "M", ["title": "loose", "folder_id": .null])
                try await device.sync()
                if name == "Ada's" { first = device } else { other = device }
            }
            try await second.sync()
            #expect(stack.rows(second, "notes") == ["N": ["Ada's-note", "B"], "M": ["loose", nil]])
            try second.model.update("notes", "M", with: ["title": "bound", "folder_id": "F"])
            try second.model.create("notes", id: "K", ["title": "by-the-second", "folder_id": "B"])
            try second.model.delete("notes", "N")
            try other.model.update("folders", "B", with: ["name": "changed", "parent_id": .null])
            try await second.sync()
            try await other.sync()
            try first.model.update("notes", "M", with: ["body": "salt"])
            for _ in 0..<3 {
                try await first.sync()
                try await second.sync()
                try await other.sync()
            }
            let folders = ["F": ["Ada's", nil], "B": ["Ada's-inner", "F"]]
            let notes = ["M": ["bound", "F"], "K": ["by-the-second", "B"]]
            for device in [first, second] {
                #expect(stack.rows(device, "folders") == folders)
                #expect(stack.rows(device, "notes") == notes)
            }
            #expect(stack.rows(other, "folders") == ["F": ["Bob's", nil], "B": ["changed", nil]])
            #expect(stack.rows(other, "notes") == ["N": ["Bob's-note", "B"], "M": ["loose", nil]])
            for (user, device) in [("ada@example.com", first), ("ada@example.com", second), ("bob@example.com", other)]
            {
                let contents = try await StackOracle.contents(
                    of: stack.backend, for: user, schema: .integerIDs, version: 1)
                #expect(FaultTables.numbered(finding: .key).oracle.differences(device.model.contents, contents) == [])
                #expect(!device.model.hasUnsyncedChanges)
            }
        }
    }

    private static func device(
        _ stack: GatewayStack, _ seed: UInt64, of user: String = "ada@example.com"
    ) async throws -> StackDevice {
        try await stack.device(of: user, version: 1, schema: .integerIDs, seed: seed)
    }
}
