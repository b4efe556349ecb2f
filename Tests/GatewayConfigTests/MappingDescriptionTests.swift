// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import SyncModel
import Testing

@Suite struct MappingDescriptionTests {
    private func description(
        _ lines: [String: String] = [:], columns: String = "name = string", at version: Int = 11
    ) throws -> String {
        let table = try #require(
            Support.load(Support.withTable(lines, columns: columns)).configuration?.schema.tables.first)
        return Configuration.mappingDescription(of: table, at: version)
    }

    @Test func `it is the same for the same table and says everything that a pull of the version uses`() throws {
        #expect(
            try description() == """
                table 6:albums values 2
                feed 0 8:AlbumsV1
                upsert 7:AlbumV1 of 0 id .2:id
                delete 13:AlbumDeleteV1 of 0 by .7:albumId
                column 4:name string from path .4:name in
                """)
        #expect(
            try description(at: 12) == """
                table 6:albums values 2
                feed 0 8:AlbumsV2
                upsert 7:AlbumV2 of 0 id .2:id
                delete 13:AlbumDeleteV1 of 0 by .7:albumId
                column 4:name string from path .4:name in
                """)
        #expect(try description() == description())
    }

    @Test(
        arguments: [
            (["request": "AlbumsV1 then AlbumsV2 since 11"], "name = string"),
            (["request": "AlbumsV1"], "name = string"),
            (["delete": "AlbumDeleteV1 by albumId all"], "name = string"),
            (["id": "id.0"], "name = string"), (["id": "id.\"0\""], "name = string"), ([:], "name = string?"),
            ([:], "name = string x"), ([:], "name = json"), ([:], "name = string since 12"),
            ([:], "name = string name in AlbumV2"), ([:], "name = string\nmore = string since 11"),
            ([:], "name = string name | \"x\""), (["parent": "name albums"], "name = string"),
            (["ledger": "off"], "name = string"),
        ] as [([String: String], String)])
    func `another mapping has another description`(lines: [String: String], columns: String) throws {
        #expect(try description(lines, columns: columns) != description())
    }

    @Test(
        arguments: [
            (["since": "2"], "name = string"), ([:], "name = string since 11"),
            ([:], "name = string\nmore = string since 12"), ([:], "more = number since 12\nname = string"),
            (
                ["request": "AlbumsV1 then AlbumsV2 since 9 then AlbumsV3 since 12", "upsert": "AlbumV2, AlbumV3"],
                "name = string"
            ),
            (["id": "id in AlbumV1, albumId in AlbumV2"], "name = string"),
            ([:], "name = string name in AlbumV1 | title in AlbumV2"),
        ] as [([String: String], String)])
    func `what comes with a later version changes nothing for clients of older ones`(
        lines: [String: String], columns: String
    ) throws {
        var before = lines["upsert"] == nil ? [:] : ["request": "AlbumsV1 then AlbumsV2 since 9", "upsert": "AlbumV2"]
        if lines["upsert"] == nil { before = [:] }
        #expect(try description(lines, columns: columns) == description(before))
    }

    @Test func `another feed changes what all entries of the ledger mean, whoever gets it`() throws {
        let lines = ["request": "AlbumsV1, SharedV1 since 12", "upsert": "AlbumV1, SharedV1"]
        #expect(try description(lines) != description(["request": "AlbumsV1", "upsert": "AlbumV1"]))
        // Without a ledger there are none.
        let (more, less) = try (
            description(lines.merging(["ledger": "off"]) { $1 }),
            description(["request": "AlbumsV1", "upsert": "AlbumV1", "ledger": "off"])
        )
        #expect(more == less)
    }

    @Test func `a column that only the ledger needs is in it before clients have it`() throws {
        let parent = ["parent": "owner albums"]
        let columns = "name = string\nowner = string ownerId since 12"
        #expect(try description(parent, columns: columns) != description(columns: columns))
        #expect(
            try description(parent, columns: columns)
                != description(parent, columns: "name = string\nowner = string other since 12"))
    }

    @Test func `calls and other things of pushes are not in it`() throws {
        #expect(try description(["update": "PATCH /a/{id}"], columns: "name = string readonly") == description())
    }
}
