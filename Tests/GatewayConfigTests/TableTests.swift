// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI
import SyncModel
import Testing

@Suite struct TableTests {
    private func column(_ value: String) throws -> Column {
        let (configuration, diagnostics) = Support.load(
            Support.withTable(columns: "c = \(value)"), environment: ["V": "in, | \"x\""])
        return try #require(configuration?.schema.tables.first?.columns.first, "\(Support.rendered(diagnostics))")
    }

    @Test func `a column without a source has the member of its own name`() throws {
        #expect(try column("string").sources == [.path(Path(name: "c"), types: [])])
        #expect(try column("string readonly").sources == [.path(Path(name: "c"), types: [])])
    }

    @Test func `sources are paths, the line's type and fixed values, in their order`() throws {
        let value = #"string a.0."b c" in AlbumV1 AlbumV2|@type | "fixed, | ; text""#
        let path = Path([.name("a"), .index(0), .name("b c")])
        #expect(
            try column(value).sources == [
                .path(path, types: ["AlbumV1", "AlbumV2"]), .lineType, .literal(.string("fixed, | ; text")),
            ])
        #expect(try column("number x | -1.5").sources == [.path(Path(name: "x"), types: []), .literal(.number(-1.5))])
        #expect(try column("boolean true").sources == [.literal(.boolean(true))])
    }

    @Test func `a keyword in quotes is a path, any other quoted text is a value`() throws {
        #expect(try column(#"number "version" version"#).sources == [.path(Path(name: "version"), types: [])])
        #expect(try column(#"number "version" version"#).isVersion)
        #expect(try column(#"string "in""#).sources == [.path(Path(name: "in"), types: [])])
        #expect(try column(#"string "all""#).sources == [.literal(.string("all"))])
    }

    @Test func `inserted text is one literal name`() throws {
        #expect(try column("string ${V}").sources == [.path(Path(name: "in, | \"x\""), types: [])])
    }

    @Test func `all attributes are understood together`() throws {
        let column = try column(#"string? a since 3 ref albums oneof "x y" z else z send b."since" "#)
        #expect(column.isOptional && column.since == 3 && column.reference == "albums")
        #expect(column.oneOf == .init(allowed: ["x y", "z"], fallback: "z"))
        #expect(column.sendPath == Path([.name("b"), .name("since")]))
        #expect(column.outgoingPath == column.sendPath)
        #expect(try self.column("timestamp as millis").timestampFormat == .millis)
        #expect(try self.column("string max 40").maximumLength == 40)
    }

    @Test(arguments: [
        ("number max 3", "'max' is for columns of type string, this one is number"),
        ("string max", "expected a number of characters after 'max', found the end of the value"),
        ("string max 0", "expected a number of characters after 'max', found '0'"),
        ("string oneof a abcd else a max 3", "'abcd' is longer than 'max 3' allows"),
    ])
    func `a length has to make sense`(value: String, message: String) {
        let messages = Support.load(Support.withTable(columns: "c = \(value)")).diagnostics.map(\.message)
        #expect(messages == [message])
    }

    @Test(arguments: [
        ("update", "c = string version", "", nil),
        ("update", "c = string", "", "'if_match' needs a column that is marked 'version'"),
        (
            "remove", "c = string version", "",
            "'if_match' is for 'update' only: with anything else the client tells no version"
        ),
        ("update", "c = string version", "none", "'if_match' has no effect with 'conflicts = none'"),
    ])
    func `if_match is for updates of tables with a version`(
        key: String, column: String, conflicts: String, message: String?
    ) {
        let text = Support.withTable(
            [key: "PATCH /a/{id} missing 404 if_match", "conflicts": conflicts], columns: column)
        let (configuration, diagnostics) = Support.load(text)
        #expect(diagnostics.map(\.message) == (message.map { [$0] } ?? []))
        guard message == nil else { return }
        guard case .call(let call)? = configuration?.schema.tables.first?.calls.update else {
            Issue.record("no call")
            return
        }
        #expect(call.sendsVersion && call.statuses == [404: .missing])
    }

    @Test(arguments: [
        (
            ["create": "POST /a returns id"],
            "a creation whose answer is lost may happen twice: only the backend knows its id"
        ),
        (
            ["create": "POST /a returns id", "match": "name"],
            "a creation whose answer is lost is found again by 'match' alone"
        ),
        (["remove": "DELETE /a/{id}"], "'remove' does not say which status means that the record is gone already"),
        (
            ["update": "PATCH /a/{id}", "conflicts": "backend"],
            "'update' does not tell the backend what the client had seen, so it cannot find conflicts"
        ),
    ])
    func `calls that leave open what a push comes to are warned of`(table: [String: String], message: String) {
        let (configuration, diagnostics) = Support.load(Support.withTable(table))
        #expect(configuration != nil && diagnostics.count == 1)
        #expect(diagnostics.first?.message.hasPrefix(message) == true, "\(Support.rendered(diagnostics))")
        let stream = Support.load(Support.withTable(table, more: "[push]\npath = POST /push\n"))
        #expect(stream.diagnostics.isEmpty)
    }

    @Test(arguments: [
        ["update": "PATCH /a/{id}"],
        ["update": "PATCH /a/{id} body {\"v\":\"{base}\",\"all\":{*}}", "conflicts": "backend"],
        ["update": "PATCH /a/{id} if_match", "conflicts": "backend"], ["remove": "DELETE /a/{id} missing 404"],
        ["remove": "DELETE /a/{id} when ok true"], ["create": "PUT /a/{id}"],
    ])
    func `calls that say what they mean are not warned of`(table: [String: String]) {
        let columns = "name = string\nv = string version readonly"
        let (_, diagnostics) = Support.load(Support.withTable(table, columns: columns))
        #expect(diagnostics.isEmpty, "\(Support.rendered(diagnostics))")
    }

    @Test func `a table's own word about descendants counts before the section's`() throws {
        for (section, table, expected) in [
            ("", "", CascadeRule.backend), ("gateway", "", .gateway), ("gateway", "backend", .backend),
            ("", "gateway", .gateway),
        ] {
            let more = section.isEmpty ? "" : "[push]\ncascade = \(section)\n"
            let schema = Support.load(Support.withTable(["cascade": table], more: more)).configuration?.schema
            #expect(schema?.tables.map(\.cascade) == [expected])
        }
    }

    @Test func `deletes go by paths, by all and by a column`() throws {
        let text = Support.withTable(
            ["id": "a b", "delete": "D1 by x y.z all, D2 by x y,D3 where name=n.m"])
        let table = try #require(Support.load(text).configuration?.schema.tables.first)
        #expect(
            table.deletes.map(\.target) == [
                .by([Path(name: "x"), Path([.name("y"), .name("z")])], all: true),
                .by([Path(name: "x"), Path(name: "y")], all: false),
                .whereColumn("name", equals: Path([.name("n"), .name("m")])),
            ])
    }

    @Test func `ids may differ by type and default to id`() throws {
        let text = Support.withTable(["id": "x in AlbumV1, y"])
        let table = try #require(Support.load(text).configuration?.schema.tables.first)
        #expect(table.ids == [.init(paths: [Path(name: "x")], types: ["AlbumV1"]), .init(paths: [Path(name: "y")])])
        let plain = try #require(Support.load(Support.withTable(["id": ""])).configuration?.schema.tables.first)
        #expect(plain.ids == [.init(paths: [Path(name: "id")])])
    }

    @Test func `calls know outcomes, conditions and bodies over several lines`() throws {
        let create = #"""
            POST /a/{id}/x?q={name}&k=%20 ok 202 exists 409 410 returns data.id when ok "a b" | n 1 | f false
             body {
               "id": "{id}", "text": "a-{name}-\u00e9\n\u007b", "all": {*},
               "list": [null, true, -1.5e3, []]
             }
            """#
        let (configuration, diagnostics) = Support.load(Support.withTable(["create": create]))
        let table = try #require(configuration?.schema.tables.first, "\(Support.rendered(diagnostics))")
        guard case .call(let call) = table.calls.create else {
            throw Mistake("no call", at: Span(source: 0, line: 1, column: 1))
        }
        #expect(
            call.target == [.text("/a/"), .placeholder("id"), .text("/x?q="), .placeholder("name"), .text("&k=%20")])
        #expect(call.statuses == [202: .ok, 409: .exists, 410: .exists])
        #expect(call.returns == Path([.name("data"), .name("id")]))
        #expect(
            call.when == [
                .init(path: Path(name: "ok"), value: .string("a b")), .init(path: Path(name: "n"), value: .number(1)),
                .init(path: Path(name: "f"), value: .boolean(false)),
            ])
        #expect(
            call.body
                == .object([
                    .init(name: "id", value: .value("id")),
                    .init(name: "text", value: .string([.text("a-"), .placeholder("name"), .text("-é\n{")])),
                    .init(name: "all", value: .allColumns),
                    .init(name: "list", value: .array([.null, .boolean(true), .number("-1.5e3"), .array([])])),
                ]))
    }

    @Test(
        arguments: [
            (#"POST /a returns id ref client.id body {"key":"{id}"}"#, nil),
            (#"POST /a ref client.id body {"key":"{id}"}"#, "'ref' is for a 'create' with 'returns'"),
            (#"POST /a returns id ref client.id body {"key":"{name}"}"#, "'ref' needs the client's id"),
            (#"POST /a returns id ref a ref b body {"key":"{id}"}"#, "'ref' is there twice"),
        ] as [(String, String?)])
    func `a create says where the stream gives the client's id back`(_ row: (create: String, mistake: String?)) {
        let (configuration, diagnostics) = Support.load(Support.withTable(["create": row.create]))
        guard let mistake = row.mistake else {
            guard case .call(let call) = configuration?.schema.tables.first?.calls.create else {
                Issue.record("\(Support.rendered(diagnostics))")
                return
            }
            #expect(call.reference == Path([.name("client"), .name("id")]))
            return
        }
        #expect(diagnostics.contains { $0.message.hasPrefix(mistake) })
    }

    @Test func `text from a variable is text in a body, whatever it holds`() throws {
        let text = Support.withTable(["create": #"POST /a body {"id":"{id}","t":"${V}"}"#])
        let loaded = Support.load(text, environment: ["V": #"", "x": {id}"#])
        guard case .call(let call) = loaded.configuration?.schema.tables.first?.calls.create else {
            Issue.record("\(Support.rendered(loaded.diagnostics))")
            return
        }
        #expect(
            call.body
                == .object([
                    .init(name: "id", value: .value("id")), .init(name: "t", value: .string([.text(#"", "x": {id}"#)])),
                ]))
        let outside = Support.withTable(["create": #"POST /a body {"id":"{id}","t":${V}}"#])
        let messages = Support.load(outside, environment: ["V": "1"]).diagnostics.map(\.message)
        #expect(messages == ["inserted text can only stand inside a string here"])
    }

    @Test func `none is a call that sends nothing`() throws {
        let table = Support.load(Support.withTable(["create": "none"])).configuration?.schema.tables.first
        #expect(table?.calls.create == Table.CallRule.none)
        #expect(table?.calls.update == nil)
    }

    @Test(
        arguments: [
            (["create": "POST /a body {\"name\":\"{name}\"}"], true), (["create": "POST /a returns id"], true),
            (["create": "POST /a returns id ref c body {\"c\":\"{id}\",\"n\":\"{name}\"}"], false),
            (["create": "PUT /a/{id}"], false),
            (["create": "POST /a", "id": "name"], false),
            (["create": "POST /a"], true),
        ] as [([String: String], Bool)])
    func `a create whose id nobody learns is suspicious`(lines: [String: String], isSuspicious: Bool) {
        let (configuration, diagnostics) = Support.load(Support.withTable(lines))
        #expect(configuration != nil)
        #expect(diagnostics.contains { $0.severity == .warning } == isSuspicious)
    }

    @Test func `two tables may share lines only under different ids`() {
        let other = { (id: String) in
            Support.withTable(more: "[table b]\nrequest = X\nupsert = AlbumV1\nid = \(id)\n[columns b]\nx = string\n")
        }
        #expect(Support.load(other("albumId")).configuration != nil)
        let (configuration, diagnostics) = Support.load(other("id"))
        #expect(configuration == nil)
        #expect(diagnostics.first?.message == "'AlbumV1' fills 'b' and 'albums' with the same id")
        #expect(diagnostics.first?.note != nil)
    }

    @Test func `references and parents may go in circles`() {
        let text = Support.withTable(
            ["parent": "up b"], columns: "up = string ref b",
            more: "[table b]\nrequest = X\nupsert = Y\nparent = up albums\n[columns b]\nup = string ref albums\n")
        #expect(Support.messages(text) == [])
    }

    @Test(arguments: [
        "id", "_status", "_changed", "local_storage", "rowid", "oid", "__proto__", "__x", "constructor", "ROWID", "1a",
    ])
    func `a name that WatermelonDB reserves is no column`(name: String) {
        #expect(Support.load(Support.withTable(columns: "\(name) = string")).configuration == nil)
    }

    @Test(arguments: [
        ("created_at = number", true), ("updated_at = timestamp x readonly", true), ("created_at = number?", false),
        ("updated_at = string", false), ("last_modified = number?", true), ("last_modified = string", false),
    ])
    func `times have the types that WatermelonDB wants`(columns: String, isRight: Bool) {
        #expect((Support.load(Support.withTable(columns: columns)).configuration != nil) == isRight)
    }

    @Test func `a later key is unknown until it works`() {
        #expect(Support.messages(Support.withTable(more: "[push]\nconflict = stream\nbatches = 4\n")).count == 2)
    }
}

@Suite struct PathPatternTests {
    @Test(arguments: [
        ("/sync", "/sync", true), ("/sync", "/sync/", true), ("/sync", "/sync/x", false), ("/sync", "/Sync", false),
        ("/v1/{team}/sync", "/v1/a/sync", true), ("/v1/{team}/sync", "/v1//sync", false),
        ("/v1/{team}/sync", "/v1/a/b/sync", false), ("/", "/", true), ("/", "/a", false),
    ])
    func `a placeholder matches exactly one segment`(pattern: String, path: String, matches: Bool) throws {
        let text = Support.minimal("denied_paths = \(pattern)")
        let parsed = try #require(Support.load(text).configuration?.backend.deniedPaths.first)
        #expect(parsed.matches(path) == matches)
        #expect(parsed.description == pattern)
    }
}
