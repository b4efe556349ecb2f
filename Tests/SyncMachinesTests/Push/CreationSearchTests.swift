// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncMachines
import SyncModel
import Testing

/// Looking for creations in the lines of a stream.
@Suite struct CreationSearchTests {
    private static let schema: Schema = {
        var tasks = Table(name: "tasks")
        tasks.upserts = ["TaskV1", "TaskV2"]
        tasks.ids = [.init(paths: [Path(name: "key")], types: ["TaskV2"]), .init(paths: [Path(name: "id")])]
        var tags = Table(name: "tags")
        tags.upserts = ["TagV1"]
        return Schema(tables: [tags, tasks])
    }()

    private static func found(
        _ marks: [CreationSearch.Mark], _ lines: [String], taken: [Int: Set<String>] = [:], pieces: Int = 7
    ) -> [Int: String] {
        let subjects = marks.enumerated().map { index, mark in
            CreationSearch.Subject(index: index, table: 1, id: "x\(index)", mark: mark)
        }
        var search = CreationSearch(subjects, schema: schema, rules: EnvelopeRules())
        search.beginRequest()
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { search.feed($0) }
        }
        return search.found(taken: taken)
    }

    private static func task(_ id: String, _ data: String, type: String = "TaskV1") -> String {
        #"{"type":"\#(type)","data":{"id":\#(id),\#(data)},"ack":"a"}"#
    }

    private static let reference = CreationSearch.Mark.reference(Path([.name("client"), .name("id")]))

    private static func values(_ values: KeyValuePairs<String, JSONValue>) -> CreationSearch.Mark {
        .values(
            values.map { name, value in
                let type: ColumnType =
                    switch value.kind {
                    case .number: .number
                    case .boolean: .boolean
                    case .array, .object: .json
                    case .string, .null: .string
                    }
                return .init(path: Path(name: name), column: Column(name: name, type: type), value: value)
            })
    }

    @Test(
        arguments: [
            ([task("17", #""client":{"id":"x0"}"#)], "17"),
            ([task(#""a-b""#, #""client":{"id":"x\u0030"}"#)], "a-b"),
            ([task("1", #""key":9,"client":{"id":"x0"}"#, type: "TaskV2")], "9"),
            // Rows of one client id are one record, whichever came first.
            ([task("19", #""client":{"id":"x0"}"#), task("18", #""client":{"id":"x0"}"#)], "18"),
            ([task("17", #""client":{"id":"x1"}"#), task("17", #""client":"x0""#), "x0", "{}"], nil),
            ([#"{"type":"TagV1","data":{"id":"1","client":{"id":"x0"}}}"#], nil),
            ([task(#""a/b""#, #""client":{"id":"x0"}"#), task("1.5", #""client":{"id":"x0"}"#)], nil),
        ] as [([String], String?)])
    func `a row that holds the client's id is the record`(_ row: (lines: [String], id: String?)) {
        #expect(Self.found([Self.reference], row.lines) == (row.id.map { [0: $0] } ?? [:]))
    }

    @Test(
        arguments: [
            ([task("17", #""name":"n","rank":1.0"#)], "17"),
            ([task("17", #""name":"n","rank":1"#), task("18", #""name":"n","rank":2"#)], "17"),
            // Two rows may be the record, so it is unknown which.
            ([task("17", #""name":"n","rank":1"#), task("18", #""name":"n","rank":1"#)], nil),
            // The last state of a row counts.
            ([task("17", #""name":"n","rank":1"#), task("17", #""name":"m","rank":1"#)], nil),
            ([task("17", #""name":"m","rank":1"#), task("17", #""name":"n","rank":1"#)], "17"),
            // A row that is another record's already is none.
            ([task("7", #""name":"n","rank":1"#), task("17", #""name":"n","rank":1"#)], "17"),
            ([task("17", #""name":"n""#)], nil),
        ] as [([String], String?)])
    func `the only row of equal values is the record`(_ row: (lines: [String], id: String?)) {
        let mark = Self.values(["name": .string("n"), "rank": .integer(1)])
        let found = Self.found([mark], row.lines, taken: [1: ["7"]])
        #expect(found == (row.id.map { [0: $0] } ?? [:]))
    }

    @Test func `two creations do not get one row`() {
        let mark = Self.values(["name": .string("n")])
        #expect(Self.found([mark, mark], [Self.task("17", #""name":"n""#)]) == [0: "17"])
        let both = [Self.task("17", #""name":"n","client":{"id":"x1"}"#), Self.task("18", #""name":"n""#)]
        #expect(Self.found([mark, Self.reference], both) == [0: "18", 1: "17"])
    }
}
