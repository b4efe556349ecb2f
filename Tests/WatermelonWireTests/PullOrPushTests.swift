// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel
import Testing
import WatermelonWire

@Suite struct PullOrPushTests {
    private static let set = #"{"created":[],"updated":[],"deleted":["x"]}"#

    @Test(arguments: [
        "", " \r\n\t", "{}", #"{"lastPulledAt":7}"#, #"{"schemaVersion":1,"migration":null}"#,
        #"{"lastPulledAt":7,"deviceId":"d1","tables":["tasks"],"companyId":7,"beta":true,"team":null}"#, "\u{feff}{}",
        "\u{feff}", #""{\"lastPulledAt\":7}""#,
    ])
    func `a POST without changes is a pull`(body: String) throws {
        #expect(try read("POST", "/sync", body: body)?.pull != nil)
        #expect(try read("POST", "/sync/pull", body: body)?.pull != nil)
        #expect(codeOfReading("POST", "/sync/push", body: body) == .changesMissing)
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    /// A body, and the tables that it changes.
    static let pushes: [(String, [String])] = [
        (#"{"changes":{}}"#, []), (#"{"changes":{"a":\#(set)}}"#, ["a"]), (#"{"a":\#(set)}"#, ["a"]),
        (#"{"a":\#(set),"b":\#(set)}"#, ["a", "b"]), (#"{"a":{"updated":null},"b":{}}"#, ["a", "b"]),
        (#"{"a":\#(set),"lastPulledAt":7,"schemaVersion":1,"migration":[]}"#, ["a"]),
        (#"{"changes":\#(set)}"#, ["changes"]), (#"{"changes":\#(set),"a":\#(set)}"#, ["changes", "a"]),
        (#"{"changes":\#(set),"a":\#(set),"lastPulledAt":7}"#, ["changes", "a"]),
        (#"{"changes":{"changes":\#(set)}}"#, ["changes"]), (#"{"changes":{"deleted":\#(set)}}"#, ["deleted"]),
        (#"{"deleted":\#(set),"created":\#(set)}"#, ["deleted", "created"]), (#"{"migration":\#(set)}"#, ["migration"]),
        (#"{"changes":{"a":{}},"deviceId":"d","extra":{"a":[{}]}}"#, ["a"]),
        (#"{"changes":{"a":\#(set)},"lastPulledAt":7,"lastPulledAt":7}"#, ["a"]),
        (#"{"ch\u0061nges":{"a":{"cr\u0065ated":[]}}}"#, ["a"]), (#"{"changes":"{\"a\":{}}"}"#, ["a"]),
        (#""{\"changes\":\"{\\\"a\\\":{}}\"}""#, ["a"]),
        (
            #"{"changes":{"constructor":\#(set),"a b/c\"":{}}}"#,
            ["constructor", "a b/c\""]
        ),
        (#"{"changes":{"a":{"created":[],"extra":7,"other":{"created":1}}}}"#, ["a"]),
    ]

    @Test(arguments: pushes)
    func `a POST with changes is a push`(body: String, tables: [String]) throws {
        for path in ["/sync", "/sync/push"] {
            let push = try #require(try read("POST", path, body: body)?.push)
            #expect(push.changes.tables.map(\.name) == tables)
        }
        #expect(codeOfReading("POST", "/sync/pull", body: body) == .changesInPull)
        #expect(codeOfReading("GET", "/sync", body: body) == .changesInPull)
    }

    @Test(arguments: [
        #"{"foo":1}"#, #"{"foo":{}}"#, #"{"data":{"a":{"created":[]}}}"#, #"{"lastPulledAt":7,"data":{"a":1}}"#,
        #"{"lastPulledAt":7,"data":[{"a":1}]}"#, #"{"lastPulledAt":7,"data":" {\"a\":1}"}"#, "null", "[]", "7", "true",
        #"{"lastPulledAt":7,"data":{}}"#, #"{"a":[]}"#, #"{"a":{"created":{}}}"#,
    ])
    func `a POST that could be a push in disguise is refused on a path for both`(body: String) {
        #expect(codeOfReading("POST", "/sync", body: body) == .bodyShape)
    }

    /// A body, and the code that it gets on a push path.
    static let refused: [(String, WireError.Code)] = [
        ("null", .changesMissing), (#"{"changes":null}"#, .changesMissing), (#"{"foo":1}"#, .changesMissing),
        ("[]", .changesShape), ("7", .changesShape), (#"{"changes":[]}"#, .changesShape),
        (#"{"changes":7}"#, .changesShape),
        (#"{"changes":{"a":[]}}"#, .changesShape), (#"{"changes":{"a":null}}"#, .changesShape),
        (#"{"changes":{"a":"x"}}"#, .changesShape), (#"{"changes":{"a":{"created":{}}}}"#, .changesShape),
        (#"{"changes":{"a":{"deleted":"x"}}}"#, .changesShape), (#"{"a":\#(set),"b":[]}"#, .changesShape),
        (#"{"a":\#(set),"b":7}"#, .changesShape), (#"{"a":\#(set),"b":{"x":1}}"#, .changesShape),
        (#"{"changes":{"a":{"created":[],"created":[]}}}"#, .changesShape),
        (#"{"changes":{"a":{}},"changes":{"a":{}}}"#, .changesShape),
        (#"{"changes":{"a":\#(set)},"b":\#(set)}"#, .changesShape),
        (#"{"changes":\#(set),"lastPulledAt":7}"#, .changesShape), (#"{"created":[],"updated":[]}"#, .changesShape),
        (#"{"changes":{"a":{}},"created":[]}"#, .changesShape), (#"{"created":[],"a":\#(set)}"#, .changesShape),
        (#"{"changes":{"":{}}}"#, .tableName), (#"{"changes":{"__proto__":{}}}"#, .tableName),
        (#"{"changes":{"__prot\u006f__":{}}}"#, .tableName), (#"{"changes":{"a":{},"a":{}}}"#, .tableName),
        (#"{"a":\#(set),"\u0061":\#(set)}"#, .tableName),
        (#"{"changes":{"\#(String(repeating: "a", count: 256))":{}}}"#, .tableName),
        (#"{"changes":{"a":{"created":[{}]}}}"#, .recordID), (#"{"changes":{"a":{"created":[7]}}}"#, .recordID),
        (#"{"changes":{"a":{"created":["x"]}}}"#, .recordID), (#"{"changes":{"a":{"created":[[]]}}}"#, .recordID),
        (#"{"changes":{"a":{"updated":[{"id":null}]}}}"#, .recordID),
        (#"{"changes":{"a":{"updated":[{"id":7}]}}}"#, .recordID),
        (#"{"changes":{"a":{"updated":[{"id":"x","id":7}]}}}"#, .recordID),
        (#"{"changes":{"a":{"deleted":[7]}}}"#, .recordID),
        (#"{"changes":{"a":{"deleted":[null]}}}"#, .recordID),
        (#"{"changes":{"a":{"deleted":["\ud83d"]}}}"#, .recordID),
        (#"{"changes":{"a":{"created":[{"id":"x\udc00y"}]}}}"#, .recordID),
        (#"{"changes":{"a":{"deleted":[{"id":7}]}}}"#, .recordID),
        (#"{"changes":{"a":{"deleted":[{"name":"x"}]}}}"#, .recordID),
        (#"{"changes":{"a":{"deleted":[{"id":{"id":"x"}}]}}}"#, .recordID),
        (#"{"changes":{"a":{"deleted":[{"id":"\ud83d"}]}}}"#, .recordID),
        (#"{"changes":{"a":{"deleted":[["x"]]}}}"#, .recordID),
        (#"{"changes":{"a":{"created":["x"]}}}"#, .recordID),
        (#"{"changes":{"a":{"created":[{"id":"x"},{"id":"x"}]}}}"#, .idTwice),
        (#"{"changes":{"a":{"created":[{"id":"x"}],"updated":[{"id":"\u0078"}]}}}"#, .idTwice),
        (#"{"changes":{"a":{"updated":[{"id":"x"}],"deleted":["x"]}}}"#, .idTwice),
        (#"{"changes":{"a":{"deleted":["x","x"]}}}"#, .idTwice),
        (#"{"changes":{"a":{"deleted":["x",{"id":"x"}]}}}"#, .idTwice),
        ("[object Object]", .notJSON), ("{", .notJSON), ("{}{}", .notJSON), ("{'a':1}", .notJSON),
        (#"{"a":01}"#, .notJSON),
        (#""{""#, .notJSON), (#""""#, .notJSON), (#"{"changes":"{"}"#, .notJSON), ("changes=%7B%7D", .notJSON),
        ("\u{0}", .notJSON),
        (
            #"{"changes":{"a":{"created":[{"id":"x","y":\#(nested(61))}]}}}"#,
            .tooDeep
        ),
        (String(repeating: "[", count: 100_000), .tooDeep),
    ]

    @Test(arguments: refused)
    func `a push of another form is refused with its own code`(body: String, code: WireError.Code) {
        #expect(codeOfReading("POST", "/sync/push", body: body) == code)
    }

    @Test func `a body that is not UTF-8 is refused`() {
        var body = Array(#"{"changes":{"a":{"deleted":["x"]}}}"#.utf8)
        body[body.count - 6] = 0xff
        #expect(throws: WireError.self) {
            try RequestReader(dialect: WireDialect()).read(method: "POST", route: .push, query: "", body: body)
        }
    }

    @Test(arguments: [
        #"{"created":[],"updated":null,"deleted":["x"]}"#, #"{"deleted":["x"],"lastPulledAt":7}"#,
        #"{"changes":{"deleted":["x"]},"lastPulledAt":7}"#, #"{"changes":"{\"deleted\":[\"x\"]}"}"#,
    ])
    func `one table's set alone belongs to the configured table`(body: String) throws {
        let push = try #require(try read("POST", "/sync/push", body: body) { $0.pushTable = "users" }?.push)
        #expect(push.changes.tables == [PushedTable(name: "users", created: [], updated: [], deleted: ["x"])])
        #expect(try read("POST", "/sync/push", body: #"{"a":\#(Self.set)}"#) { $0.pushTable = "users" }?.push != nil)
    }

    @Test func `without a configured table, one table's set alone is refused`() {
        for body in [
            #"{"created":[],"updated":[],"deleted":["x"]}"#, #"{"changes":{"deleted":["x"]},"lastPulledAt":7}"#,
        ] {
            #expect(codeOfReading("POST", "/sync/push", body: body) == .changesShape)
        }
    }

    @Test(arguments: [
        (#"{"json":{"lastPulledAt":7}}"#, ["json"]), (#"[{"a/b":{"lastPulledAt":7}}]"#, ["0", "a/b"]),
        (#"{"json":"{\"lastPulledAt\":7}"}"#, ["json"]), (#""{\"json\":{\"lastPulledAt\":7}}""#, ["json"]),
    ])
    func `the body's content is found under its path`(body: String, path: [String]) throws {
        let pull = try read("POST", "/sync", body: body) { $0.bodyPath = path }?.pull
        #expect(pull?.lastPulledAt == .cursor(7))
    }

    @Test(arguments: ["{}", "null", "7", "[]", #"{"JSON":{}}"#])
    func `a body without its path is refused`(body: String) {
        #expect(codeOfReading("POST", "/sync", body: body) { $0.bodyPath = ["json"] } == .bodyPath)
    }

    @Test func `an empty body needs no path`() throws {
        #expect(try read("POST", "/sync?last_pulled_at=7") { $0.bodyPath = ["json"] }?.pull != nil)
    }

    @Test func `limits hold`() throws {
        let three = #"{"changes":{"a":{"created":[{"id":"1"}],"updated":[{"id":"2"}]},"b":{"deleted":["1"]}}}"#
        #expect(try read("POST", "/sync", body: three) { $0.limits.records = 3 }?.push?.changes.recordCount == 3)
        #expect(codeOfReading("POST", "/sync", body: three) { $0.limits.records = 2 } == .tooManyRecords)
        #expect(try read("POST", "/sync", body: three) { $0.limits.tables = 2 }?.push != nil)
        #expect(codeOfReading("POST", "/sync", body: three) { $0.limits.tables = 1 } == .tooManyTables)
        #expect(codeOfReading("POST", "/sync", body: three) { $0.limits.jsonDepth = 4 } == .tooDeep)
        #expect(try read("GET", "/sync?a&b&c") { $0.limits.queryParameters = 3 }?.pull != nil)
        #expect(codeOfReading("GET", "/sync?a&b&c&d") { $0.limits.queryParameters = 3 } == .tooManyParameters)
        #expect(WireError.Code.tooManyRecords.status == 413 && WireError.Code.tooManyTables.status == 413)
    }
}
