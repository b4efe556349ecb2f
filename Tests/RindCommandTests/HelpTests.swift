// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// What `--help` looks like on a screen of 80 columns.
@Suite struct HelpTests {
    /// The names of all commands below the root, the root's first.
    private static let commands = [
        "", "serve", "check", "keys", "pull", "replicas", "replicas list", "replicas show", "replicas stuck",
        "replicas forget", "replicas resync", "replicas accept", "quarantine", "quarantine list", "quarantine show",
        "quarantine retry",
        "quarantine drop", "journal", "journal list", "journal show", "state", "state copy", "state accept-clock",
        "state accept-key",
        "migrate", "why",
        "explain", "explain schema", "conform", "demo", "version",
    ]

    @Test(arguments: commands)
    func `no line of a help text is wrapped twice`(_ command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        func help(_ columns: Int) async throws -> [String] {
            let result = try await RunningCommand.run(words + ["--help"], environment: ["COLUMNS": "\(columns)"])
            #expect(result.status == 0)
            let lines = result.out.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            // The library breaks these lines by itself, for whatever width.
            let end = lines.firstIndex { $0.hasPrefix("USAGE: ") } ?? lines.endIndex
            return Array(lines[..<end].drop { !$0.isEmpty })
        }
        let narrow = try await help(80)
        #expect(narrow.allSatisfy { $0.count <= 80 }, "\(narrow.filter { $0.count > 80 })")
        let wide = try await help(200)
        #expect(narrow == wide)
    }
}
