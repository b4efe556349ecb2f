// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncMachines
import SyncModel
import Testing

/// How a journal is closed whose push was cut off (findings 19 and 20).
@Suite struct PushRecoveryMachineTests {
    private static func closing(_ means: PushRecoveryMachine.Means...) -> PushRecoveryMachine {
        PushRecoveryMachine(
            means.enumerated().map { PushRecoveryMachine.Creation(index: $0.offset, means: $0.element) })
    }

    @Test func `without creations in flight a journal is closed at once`() {
        var closing = Self.closing()
        #expect(closing.begin() == .close(found: [:], lost: []))
    }

    @Test func `requests with a key are repeated one by one, then the rest is looked for together`() {
        let (keyed, both) = (
            PushRecoveryMachine.Means.repetition(thenSearch: false),
            PushRecoveryMachine.Means.repetition(thenSearch: true)
        )
        var closing = Self.closing(.search, keyed, .none, both, .search, keyed)
        #expect(closing.begin() == .repeatRequest(1))
        #expect(closing.handle(.created("17")) == .repeatRequest(3))
        #expect(closing.handle(.refused) == .repeatRequest(5))
        #expect(closing.handle(.unanswerable) == .search([0, 4]))
        // What the backend refuses has not happened; what nobody can say is lost.
        #expect(closing.handle(.found([4: "18"])) == .close(found: [1: "17", 4: "18"], lost: [0, 2, 5]))
    }

    @Test func `an event that no action has asked for ends nothing but the recovery`() {
        var closing = Self.closing(.search)
        #expect(closing.begin() == .search([0]))
        for event in [PushRecoveryMachine.Event.created("17"), .refused, .unanswerable] {
            guard case .fail(let unexpected) = closing.handle(event) else {
                Issue.record("\(event) was taken")
                continue
            }
            #expect(unexpected.state == "search" && "\(event)".hasPrefix(unexpected.event))
        }
        // Of indices that were not asked for nothing is believed.
        #expect(closing.handle(.found([0: "1", 5: "2"])) == .close(found: [0: "1"], lost: []))
        guard case .fail = closing.handle(.found([:])) else {
            Issue.record("it was closed already")
            return
        }
    }

    @Test(
        arguments: [
            (PushRecoveryMachine.InferredState.unknown, true, true, .repetition(thenSearch: true)),
            (.unknown, true, false, .repetition(thenSearch: false)), (.unknown, false, true, .search),
            (.deleted, true, true, .search), (.deleted, false, true, .search), (.gone, true, true, .search),
            // It may be there already, and only so the deletion finds it.
            (.deleted, true, false, .repetition(thenSearch: false)), (.gone, true, false, .none),
            (.deleted, false, false, .none),
        ] as [(PushRecoveryMachine.InferredState, Bool, Bool, PushRecoveryMachine.Means)])
    func `what its device has no more is looked for, and carried out only for a deletion to find it`(
        _ row: (
            inferred: PushRecoveryMachine.InferredState, canRepeat: Bool, canSearch: Bool,
            means: PushRecoveryMachine.Means
        )
    ) {
        #expect(
            PushRecoveryMachine.Means(canRepeat: row.canRepeat, canSearch: row.canSearch, inferred: row.inferred)
                == row.means
        )
    }

    @Test func `what a repetition does not tell is looked for where the stream may tell it`() {
        var closing = Self.closing(.repetition(thenSearch: true), .repetition(thenSearch: false))
        #expect(closing.begin() == .repeatRequest(0))
        #expect(closing.handle(.unanswerable) == .repeatRequest(1))
        #expect(closing.handle(.unanswerable) == .search([0]))
        #expect(closing.handle(.found([0: "17"])) == .close(found: [0: "17"], lost: [1]))
    }
}

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
        .values(values.map { .init(path: Path(name: $0.key), value: $0.value) })
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
