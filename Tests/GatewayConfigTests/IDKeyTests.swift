// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI
import SyncModel
import Testing

/// `id_type`, `ids`, and what they ask of calls and columns.
@Suite struct IDKeyTests {
    /// A creation that is found again whatever becomes of its answer.
    private static let made = #"POST /a returns id ref c body {"c":"{id}","n":"{name}"}"#

    private static let streamPush = "[push]\npath = POST /push\n"

    @Test(
        arguments: [
            ([:], "", Table.IDType.text, false),
            (["create": "POST /a returns id"], "", .text, true),
            (["create": "POST /a returns id", "ids": "backend", "id_type": "integer"], "", .integer, true),
            (["ids": "backend"], streamPush, .text, true), (["id_type": "integer"], "", .integer, false),
        ] as [([String: String], String, Table.IDType, Bool)])
    func `a table says what the backend's ids are and who makes them`(
        lines: [String: String], more: String, type: Table.IDType, makesIDs: Bool
    ) throws {
        let table = try #require(Support.load(Support.withTable(lines, more: more)).configuration?.schema.tables.first)
        #expect(table.idType == type && table.makesIDs == makesIDs)
    }

    @Test(
        arguments: [
            (
                ["id_type": "integer", "id": "a b", "delete": "AlbumDeleteV1 by a b"], "",
                "an id of 2 parts is no number"
            ),
            (
                ["id_type": "integer", "create": "PUT /a/{id}"], "",
                "clients make ids that are no numbers, and nobody reads the backend's"
            ),
            (["ids": "backend", "create": "PUT /a/{id}"], "", "'create' does not read the ids that the backend makes"),
            (
                ["ids": "client", "create": Self.made], "",
                "'returns' reads the ids that the backend makes, and here the client makes them"
            ),
            (
                ["ids": "backend", "id": "a b", "delete": "AlbumDeleteV1 by a b"], streamPush,
                "an id of 2 parts is made from these"
            ),
            (
                ["create": Self.made, "update": "PATCH /a"], "",
                "'update' does not say which record: the backend knows it by '{id}'"
            ),
            (
                ["create": Self.made, "ledger": "off"], "",
                "without a ledger it is unknown which devices have got a record before its mapping"
            ),
            (
                ["id": "a b", "delete": "AlbumDeleteV1 by a b", "create": Self.made], "",
                "'returns' reads one id, and the id has 2 parts"
            ),
            (["id_type": "number"], "", "expected one of text, integer, found 'number'"),
        ] as [([String: String], String, String)])
    func `what cannot work is a mistake at its position`(lines: [String: String], more: String, message: String) {
        let messages = Support.load(Support.withTable(lines, more: more)).diagnostics.map(\.message)
        #expect(messages == [message])
    }

    @Test(arguments: [true, false])
    func `a stream push that makes ids wants lines that tell them`(tells: Bool) {
        var text = Support.withTable(["ids": "backend"], more: Self.streamPush)
        if tells { text = text.replacing("[backend]\n", with: "[backend]\nidmap_type = IdMapV1\n") }
        let warning = "a record whose answer is lost may be made twice: nothing but the answer tells its id"
        #expect(Support.load(text).diagnostics.map(\.message) == (tells ? [] : [warning]))
    }

    @Test func `lines about ids have a type of their own`() {
        let configuration = Support.load(Support.withTable()).configuration
        #expect(configuration?.backend.idMap == .init())
        let same = Support.withTable().replacing("[backend]\n", with: "[backend]\nidmap_type = AlbumV1\n")
        #expect(
            Support.load(same).diagnostics.map(\.message).contains {
                $0.contains("is a control line of [backend] and cannot fill a table")
            })
    }
}
