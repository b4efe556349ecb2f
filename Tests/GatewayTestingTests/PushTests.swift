// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import JSONBytes
import Testing

/// What waits to be pushed, and what an accepted push leaves: WatermelonDB's `fetchLocal` and `markAsSynced`.
@Suite struct PushTests {
    /// What happens to the row during the push.
    enum Meanwhile: String, Sendable {
        case nothing, edited, deleted, purged
    }

    @Test(
        arguments: [
            (.created, .nothing, #"synced [] "old" "old" 1 true"#),
            (.updated, .nothing, #"synced [] "mine" "old" 1 true"#),
            (.createdAndEdited, .nothing, #"synced [] "mine" "old" 1 true"#), (.deleted, .nothing, ""),
            (.created, .edited, #"created [note] "old" "late" 1 true"#),
            (.updated, .edited, #"updated [name,note] "mine" "late" 1 true"#),
            (.created, .deleted, #"deleted [] "old" "old" 1 true"#),
            (.updated, .deleted, #"deleted [name] "mine" "old" 1 true"#),
            (.created, .purged, ""), (.synced, .nothing, #"synced [] "old" "old" 1 true"#),
            (.synced, .edited, #"updated [note] "old" "late" 1 true"#),
        ] as [(LocalState, Meanwhile, String)])
    func `a push that was taken marks what has not changed since`(
        local: LocalState, meanwhile: Meanwhile, row: String
    ) throws {
        var client = try local.client()
        let changes = client.fetchLocalChanges()
        switch meanwhile {
        case .nothing: break
        case .edited: try client.update("t", "r", with: ["note": "late"])
        case .deleted: try client.delete("t", "r")
        case .purged: try client.purge("t", "r")
        }
        client.markAsSynced(changes, answer: Array("{}".utf8))
        #expect(client.row == row)
    }

    @Test(arguments: [
        (#"{"experimentalRejectedIds":{"t":["r"]}}"#, true), (#"{"experimentalRejectedIds":{"t":["x"]}}"#, false),
        (#"{"experimentalRejectedIds":{"u":["r"],"x":["r"]}}"#, false), (#"{"experimentalRejectedIds":null}"#, false),
        (#"{"experimentalRejectedIds":["r"]}"#, false), (#"{"experimentalRejectedIds":"r"}"#, false),
        (#"{"experimentalRejectedIds":{"t":"r"}}"#, false), ("", false), ("<html>", false), ("null", false),
    ])
    func `what was rejected stays to be pushed`(answer: String, isKept: Bool) throws {
        for local in [LocalState.created, .updated, .deleted] {
            var options = ClientModel.Options()
            options.passesWholeAnswer = true
            var client = try local.client(options)
            let before = client.row
            client.markAsSynced(client.fetchLocalChanges(), answer: Array(answer.utf8))
            #expect((client.row == before) == isKept)
            #expect(client.hasUnsyncedChanges == isKept)
        }
    }

    @Test func `an app that ignores the answer counts rejected records as synced`() throws {
        var client = try LocalState.created.client()
        client.markAsSynced(
            client.fetchLocalChanges(), answer: Array(#"{"experimentalRejectedIds":{"t":["r"]}}"#.utf8))
        #expect(client.row == #"synced [] "old" "old" 1 true"#)
    }

    @Test func `a push names every table, and its records hold the whole row in order`() throws {
        var client = try LocalState.updated.client()
        try client.update("t", "r", with: ["note": .null, "done": false])
        try client.create("t", id: "n", ["name": "ü", "position": 1_700_000_000_123])
        try client.create("t", id: "gone")
        try client.delete("t", "gone")
        let expected = #"""
            {"t":{"created":[{"id":"n","_status":"created","_changed":"","name":"ü","note":null,\#
            "position":1700000000123,"done":false}],"updated":[{"id":"r","_status":"updated",\#
            "_changed":"name,note,done","name":"mine","note":null,"position":1,"done":false}],"deleted":["gone"]},\#
            "u":{"created":[],"updated":[],"deleted":[]}}
            """#
        #expect(String(decoding: client.fetchLocalChanges().bytes, as: UTF8.self) == expected)
    }

    @Test func `LokiJS lists created records in reverse`() throws {
        var client = try LocalState.unknown.client()
        for id in ["a", "b"] { try client.create("t", id: id) }
        #expect(client.pushed[0] == ["a", "b"])
        client.options.adapter = .loki
        #expect(client.pushed[0] == ["b", "a"])
    }

    @Test func `nothing to push is nothing`() throws {
        #expect(try LocalState.synced.client().fetchLocalChanges().isEmpty)
        #expect(try !LocalState.deleted.client().fetchLocalChanges().isEmpty)
    }
}
