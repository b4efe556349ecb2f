// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import Logging
import Testing

/// What clients say of their schema, right and wrong: the rows of the table in `docs/PROTOCOL.md`.
@Suite(.timeLimit(.minutes(5))) struct SchemaInputTests {
    /// A row of the table, and requests that it is about.
    struct Row: CustomTestStringConvertible, Sendable {
        /// As it stands in the page.
        let text: String
        let outcome: String
        /// What follows the cursor in the query of a pull.
        var queries: [String] = []
        /// Members of the body of a pull, after the cursor.
        var bodies: [String] = []
        /// The version of the first pull; nil tells none.
        var first: Int? = 3
        var overrides: [String: String] = [:]
        var testDescription: String { text }

        init(
            _ text: String, _ outcome: String, queries: [String] = [], bodies: [String] = [], first: Int? = 3,
            _ overrides: [String: String] = [:]
        ) {
            (self.text, self.outcome, self.queries, self.bodies) = (text, outcome, queries, bodies)
            (self.first, self.overrides) = (first, overrides)
        }
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func migration(_ text: String) -> String { "&schema_version=3&migration=" + encoded(text) }

    private static let whole = #"{"from":2,"tables":["tags"],"columns":[{"table":"projects","columns":["color"]}]}"#

    private static func tables(_ count: Int, _ name: String = "t") -> String {
        let names = (0..<count).map { "\"\(name)\($0)\"" }.joined(separator: ",")
        return #"{"from":2,"tables":[\#(names)],"columns":[]}"#
    }

    private static func naming(_ name: String) -> [String] {
        [
            #"{"from":2,"tables":["\#(name)"],"columns":[]}"#,
            #"{"from":2,"tables":[],"columns":[{"table":"\#(name)","columns":["color"]}]}"#,
            #"{"from":2,"tables":[],"columns":[{"table":"projects","columns":["\#(name)"]}]}"#,
        ]
    }

    static let rows: [Row] = versions + migrations

    private static let versions = [
        Row(
            "schema version: missing, empty, `null`, `undefined`", "200",
            queries: ["", "&schema_version=", "&schema_version=null", "&schemaVersion=undefined"],
            bodies: [#""schemaVersion":null"#, #""schemaVersion":"""#]),
        Row(
            "schema version: a whole number, also in quotes or written as `3.0`", "200",
            queries: ["&schema_version=3", "&schema_version=3.0", "&schemaversion=%223%22"],
            bodies: [#""schemaVersion":3"#, #""schemaVersion":"3""#, #""schema_version":3e0"#]),
        Row(
            "schema version: newer than `[schema] version`, up to 2,147,483,647", "200",
            queries: ["&schema_version=4", "&schema_version=2147483647"]),
        Row(
            "schema version: 0, negative, with a fraction, above 2,147,483,647", "400 `request.schema_version`",
            queries: [
                "&schema_version=0", "&schema_version=-1", "&schema_version=1.5", "&schema_version=2147483648",
                "&schema_version=1e400", "&schema_version=\(String(repeating: "9", count: 400))",
            ],
            bodies: [#""schemaVersion":-3"#, #""schemaVersion":2.5"#, #""schemaVersion":1e30"#]),
        Row(
            "schema version: text, a list, an object, true", "400 `request.schema_version`",
            queries: [
                "&schema_version=three", "&schema_version=3px", "&schema_version=NaN", "&schema_version=%5B3%5D",
            ],
            bodies: [
                #""schemaVersion":"three""#, #""schemaVersion":[3]"#, #""schemaVersion":{}"#, #""schemaVersion":true"#,
            ]),
        Row(
            "schema version: told twice, differing", "400 `request.schema_version`",
            queries: ["&schema_version=2&schema_version=3", "&schema_version=3&schemaVersion=2"]),
        Row(
            "schema version: below `[schema] oldest`", "426 `schema.too_old`", queries: ["&schema_version=1"],
            ["schema.oldest": "2", "schema.migrations_enabled_at": "2"]),
        Row(
            "schema version: below the one of the last sync", "400 `schema.went_back`", queries: ["&schema_version=2"]),
        Row(
            "schema version: below `[schema] migrations_enabled_at`, after the first sync",
            "400 `schema.migrations_enabled_at`", queries: ["&schema_version=1"], first: 1,
            ["schema.migrations_enabled_at": "2"]),
    ]

    private static let migrations = [
        Row(
            "migration: missing, empty, `null`, `undefined`", "200",
            queries: ["&migration=", "&migration=null", "&migration=undefined", migration("\"\"")],
            bodies: [#""migration":null"#]),
        Row(
            "migration: an object, its JSON text, that encoded or quoted once or twice more", "200",
            queries: [
                migration(whole), migration(encoded(whole)), migration(encoded(encoded(whole))),
                migration("\"" + whole.replacing("\"", with: "\\\"") + "\""),
                "&migration%5Bfrom%5D=2&migration%5Btables%5D%5B%5D=tags",
            ],
            bodies: [
                "\"migration\":\(whole)", "\"migration\":\"" + whole.replacing("\"", with: "\\\"") + "\"",
            ]),
        Row(
            "migration: names that are not configured, a `from` that is not the last sync's, further members", "200",
            queries: [
                migration(tables(300)), migration(#"{"from":1,"tables":["users"],"columns":[]}"#),
                migration(#"{"from":9,"tables":["toString"],"columns":[{"table":"x","columns":["y"]}],"later":1}"#),
                migration(#"{"from":2,"tables":[],"columns":[],"__proto__":{"tables":["users"]}}"#),
            ], bodies: ["\"migration\":" + tables(1_000)]),
        Row(
            "migration: other text, `[object Object]`, a list, a number, true", "400 `request.migration`",
            queries: [
                "&migration=hello", "&migration=%5Bobject%20Object%5D", "&migration=[object+Object]",
                migration("[]"), migration("[\(whole)]"), migration("7"), migration("true"), migration("{"),
                migration("{\"from\":2"),
            ],
            bodies: [
                #""migration":"hello""#, #""migration":"[object Object]""#, #""migration":[]"#, #""migration":7"#,
                #""migration":true"#,
            ]),
        Row(
            "migration: without `from`, `tables` or `columns`, or with others than a number and two lists",
            "400 `request.migration`",
            queries: [
                "{}", #"{"from":2}"#, #"{"from":2,"tables":[]}"#, #"{"tables":[],"columns":[]}"#,
                #"{"from":2,"tables":"tags","columns":[]}"#, #"{"from":2,"tables":{"0":"tags"},"columns":[]}"#,
                #"{"from":2,"tables":[1],"columns":[]}"#, #"{"from":2,"tables":[["tags"]],"columns":[]}"#,
                #"{"from":2,"tables":[],"columns":{}}"#, #"{"from":2,"tables":[],"columns":["color"]}"#,
                #"{"from":2,"tables":[],"columns":[{"table":"projects"}]}"#,
                #"{"from":2,"tables":[],"columns":[{"table":7,"columns":["color"]}]}"#,
                #"{"from":2,"tables":[],"columns":[{"table":"projects","columns":[null]}]}"#,
            ].map(migration)),
        Row(
            "migration: a `from` that is text, negative, with a fraction, above 2,147,483,647",
            "400 `request.migration`",
            queries: ["\"2\"", "-1", "1.5", "2147483648", "1e99", "null"].map {
                migration("{\"from\":\($0),\"tables\":[],\"columns\":[]}")
            }),
        Row(
            "migration: a table or column called `id`, `_status`, `_changed` or `__proto__`, nothing, or more than "
                + "255 bytes", "400 `request.migration`",
            queries: (["id", "_status", "_changed", "__proto__", ""] + [String(repeating: "x", count: 256)])
                .flatMap(naming).map(migration)),
        Row(
            "migration: more than 1,000 tables and columns, 10,000 for example", "400 `request.migration`",
            bodies: ["\"migration\":" + tables(1_001), "\"migration\":" + tables(10_000)]),
        Row(
            "migration: told twice, differing", "400 `request.migration`",
            queries: ["&migration=null" + migration(whole), migration(whole) + migration(tables(1)).dropFirst(17)]),
    ]

    @Test(arguments: rows)
    func `what a pull says of its schema is answered as the page says`(_ row: Row) async throws {
        try await GatewayStack.with(StackOptions(row.overrides)) { stack in
            try await stack.seed(tasks: 3)
            let version = row.overrides["schema.oldest"] == nil ? row.first : 3
            let cursor = try await stack.pull(nil, version: version ?? 3).timestamp
            let (before, first) = (try await stack.snapshot(), row.outcome.replacing("`", with: ""))
            func check(_ answer: RawAnswer, _ what: String) async throws {
                #expect(answer.outcome == first, "\(what.prefix(200)): \(answer)")
                guard first == "200" else {
                    #expect(answer.text.utf8.count < 300 && !answer.text.isEmpty)
                    #expect(try await stack.snapshot() == before, "\(what.prefix(200))")
                    return
                }
                let tables = try PulledAnswer(answer).tables
                #expect(tables == ["projects", "tasks", "comments", "tags", "task_tags"], "\(what.prefix(200))")
            }
            for query in row.queries {
                try await check(try await stack.get("/sync?last_pulled_at=\(cursor)\(query)"), query)
            }
            for body in row.bodies {
                let text = "{\"lastPulledAt\":\(cursor),\(body)}"
                try await check(try await stack.send("POST", "/sync/pull", body: Array(text.utf8)), text)
            }
            #expect(try await stack.get("/readyz").status == 200)
        }
    }

    @Test func `the page has a row for each of these, and no other`() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/PROTOCOL.md")
        let page = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        let listed = page.split(separator: "\n").filter {
            $0.hasPrefix("| schema version: ") || $0.hasPrefix("| migration: ")
        }
        let expected = Self.rows.map { ["", $0.text, $0.outcome].joined(separator: "| ") }
        #expect(listed.count == expected.count)
        for (line, row) in zip(listed, Self.rows) {
            #expect(line.hasPrefix("| \(row.text) | \(row.outcome)"), "\(line)")
        }
    }

    @Test func `what a client asks for and nobody has configured is logged, cut and counted`() async throws {
        try await GatewayStack.with { stack in
            let cursor = try await stack.pull(nil).timestamp
            let body = "{\"lastPulledAt\":\(cursor),\"schemaVersion\":3,\"migration\":\(Self.tables(900, "unknown"))}"
            #expect(try await stack.send("POST", "/sync/pull", body: Array(body.utf8)).status == 200)
            let line = try #require(stack.log.lines.first { $0.metadata["code"] == "schema.unknown_names" })
            #expect(line.level == .warning)
            #expect(line.metadata["count"] == "900")
            #expect((line.metadata["names"] ?? "").utf8.count < 2_000)
        }
    }

    @Test func `what a stranger asks for is not repeated in the log`() async throws {
        try await GatewayStack.with(StackOptions(["identity.principal": "bearer"])) { stack in
            let body = "{\"lastPulledAt\":1000,\"schemaVersion\":3,\"migration\":\(Self.tables(900, "unknown"))}"
            let headers = [("Authorization", "Bearer made-up"), ("Content-Type", "application/json")]
            let answer = try await stack.http.send("POST", "/sync/pull", headers: headers, body: Array(body.utf8))
            #expect(answer.outcome == "401 backend.credential")
            #expect(stack.logged("schema.unknown_names").isEmpty)
        }
    }
}
