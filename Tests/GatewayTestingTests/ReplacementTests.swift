// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Testing

/// What the client does with a replacement: WatermelonDB's `applyRemote`, case by case.
@Suite struct ReplacementTests {
    private static let new = #"{"id":"r","name":"new","note":"new","position":2,"done":false}"#
    private static let strategy = #","experimentalStrategy":"replacement""#

    private func client(_ local: LocalState) throws -> ClientModel {
        var options = ClientModel.Options()
        options.passesWholeAnswer = true
        return try local.client(options)
    }

    /// What the answer's set has, the state of the row before, and the row after.
    @Test(
        arguments: [
            ("nothing", .synced, ""), ("nothing", .updated, ""), ("nothing", .deleted, ""), ("nothing", .unknown, ""),
            ("nothing", .created, #"created [] "old" "old" 1 true"#),
            ("nothing", .createdAndEdited, #"created [name] "mine" "old" 1 true"#),
            ("updated", .synced, #"synced [] "new" "new" 2 false"#),
            ("updated", .updated, #"updated [name] "mine" "new" 2 false"#),
            ("updated", .deleted, #"deleted [] "old" "old" 1 true"#),
            ("updated", .unknown, #"synced [] "new" "new" 2 false"#),
            ("updated", .created, #"created [] "new" "new" 2 false"#),
            ("created", .deleted, #"synced [] "new" "new" 2 false"#),
            ("created", .synced, #"synced [] "new" "new" 2 false"#), ("deleted", .created, ""),
            ("deleted", .deleted, ""),
        ] as [(String, LocalState, String)])
    func `the client replaces as the table says`(sends: String, local: LocalState, row: String) throws {
        var client = try client(local)
        let applied = client.apply(
            changes(
                created: sends == "created" ? [Self.new] : [], updated: sends == "updated" ? [Self.new] : [],
                deleted: sends == "deleted" ? ["r"] : [], extra: Self.strategy))
        #expect(applied.isApplied)
        #expect(client.row == row)
        #expect(client.text(of: "other") == "")
    }

    @Test func `tables that the answer leaves out are left alone`() throws {
        var client = try client(.synced)
        #expect(client.apply(Array(#"{"changes":{},"timestamp":2000\#(Self.strategy)}"#.utf8)).isApplied)
        #expect(client.contents["t"]?.count == 2)
    }

    @Test func `an app that doesn't hand the strategy on keeps everything`() throws {
        var client = try LocalState.synced.client()
        #expect(client.apply(changes(extra: Self.strategy)).isApplied)
        #expect(client.contents["t"]?.count == 2)
    }

    @Test(arguments: [
        (#""incremental""#, 2), (#"{"default":"replacement"}"#, 0),
        (#"{"default":"incremental","override":{"t":"replacement"}}"#, 0),
        (#"{"default":"replacement","override":{"t":"incremental"}}"#, 2), ("null", 2),
    ])
    func `the strategy may differ by table`(strategy: String, left: Int) throws {
        var client = try client(.synced)
        #expect(client.apply(changes(extra: #","experimentalStrategy":\#(strategy)"#)).isApplied)
        #expect(client.contents["t"]?.count == left)
    }

    @Test(arguments: [#""all""#, "7", #"{"default":"all"}"#, #"{"default":7}"#])
    func `any other strategy is refused`(strategy: String) throws {
        var client = try client(.synced)
        #expect(client.apply(changes(extra: #","experimentalStrategy":\#(strategy)"#)).failure == .invalidStrategy)
    }
}
