// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import SyncModel
import Testing

@Suite struct ConflictRuleTests {
    private static func text(_ section: String, _ table: String, _ more: [String: String] = [:]) -> String {
        Support.withTable(
            table.isEmpty ? more : more.merging(["conflicts": table]) { $1 },
            more: section.isEmpty ? "" : "[push]\nconflicts = \(section)\n")
    }

    @Test(
        arguments: [
            ("", "", ConflictRule.stream), ("auto", "", .stream), ("backend", "", .backend), ("", "stream", .stream),
            ("stream", "", .stream), ("stream", "none", .none),
            ("none", "backend", .backend),
        ])
    func `a table's own word about conflicts counts before the section's`(
        section: String, table: String, expected: ConflictRule
    ) throws {
        let schema = try #require(Support.load(Self.text(section, table)).configuration?.schema)
        #expect(schema.tables.map(\.conflicts) == [expected])
    }

    @Test(arguments: [("", "stream"), ("stream", "")])
    func `conflicts of a table without a ledger cannot be found in the stream`(section: String, table: String) {
        let messages = Support.messages(Self.text(section, table, ["ledger": "off"]))
        #expect(messages.count == 1 && messages.first?.contains("it has no ledger") == true, "\(messages)")
        #expect(Support.messages(Self.text("stream", "none", ["ledger": "off"])).isEmpty)
    }

    @Test func `another word is a mistake at its position`() {
        let messages = Support.messages(Self.text("", "steam"))
        #expect(
            messages.map { $0.drop { $0 != " " } } == [" expected one of stream, backend, none, found 'steam'"])
    }
}
