// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Testing

/// What the client does with a pull: WatermelonDB's `applyRemote`, case by case.
@Suite struct IncrementalApplyTests {
    /// One row of the table: what the server sends, and what becomes of the row `r`.
    struct Reaction: CustomTestStringConvertible, Sendable {
        var sends: String
        var local: LocalState
        var created: [String] = []
        var updated: [String] = []
        var deleted: [String] = []
        var row: String
        var log: [ClientLogEntry] = []
        var failure: ClientFailure?
        var testDescription: String { "\(sends), \(local.rawValue)" }
    }

    private static let new = #"{"id":"r","name":"new","note":"new","position":2,"done":false}"#
    private static let same = #"{"id":"r","name":"old","note":"old","position":1,"done":true}"#
    private static let key = ClientKey("t", "r")

    private static let reactions: [Reaction] = [
        .init(sends: "created", local: .unknown, created: [new], row: #"synced [] "new" "new" 2 false"#),
        .init(
            sends: "created", local: .synced, created: [new], row: #"synced [] "new" "new" 2 false"#,
            log: [.createdExists(key)]),
        .init(
            sends: "created", local: .updated, created: [new], row: #"updated [name] "mine" "new" 2 false"#,
            log: [.createdExists(key)]),
        .init(
            sends: "created", local: .created, created: [new], row: #"created [] "new" "new" 2 false"#,
            log: [.createdExists(key)]),
        .init(
            sends: "created", local: .createdAndEdited, created: [new], row: #"created [name] "mine" "new" 2 false"#,
            log: [.createdExists(key)]),
        .init(
            sends: "created", local: .deleted, created: [new], row: #"synced [] "new" "new" 2 false"#,
            log: [.createdIsDeleted(key)]),
        .init(sends: "updated", local: .synced, updated: [new], row: #"synced [] "new" "new" 2 false"#),
        .init(sends: "updated", local: .updated, updated: [new], row: #"updated [name] "mine" "new" 2 false"#),
        .init(sends: "updated", local: .created, updated: [new], row: #"created [] "new" "new" 2 false"#),
        .init(
            sends: "updated", local: .createdAndEdited, updated: [new], row: #"created [name] "mine" "new" 2 false"#),
        .init(
            sends: "updated", local: .unknown, updated: [new], row: #"synced [] "new" "new" 2 false"#,
            log: [.updatedIsUnknown(key)]),
        .init(sends: "updated", local: .deleted, updated: [new], row: #"deleted [] "old" "old" 1 true"#),
        .init(sends: "deleted", local: .synced, deleted: ["r"], row: ""),
        .init(sends: "deleted", local: .updated, deleted: ["r"], row: ""),
        .init(sends: "deleted", local: .created, deleted: ["r"], row: ""),
        .init(sends: "deleted", local: .deleted, deleted: ["r"], row: ""),
        .init(sends: "deleted", local: .unknown, deleted: ["r"], row: ""),
        .init(sends: "deleted twice", local: .synced, deleted: ["r", "r"], row: ""),
        .init(
            sends: "updated and deleted", local: .synced, updated: [new], deleted: ["r"],
            row: #"synced [] "old" "old" 1 true"#, failure: .cannotDestroyPending(key)),
        .init(
            sends: "updated without difference and deleted", local: .synced, updated: [same], deleted: ["r"], row: ""),
        .init(
            sends: "created and deleted", local: .unknown, created: [new], deleted: ["r"],
            row: #"synced [] "new" "new" 2 false"#),
        .init(
            sends: "updated and deleted", local: .unknown, updated: [new], deleted: ["r"],
            row: #"synced [] "new" "new" 2 false"#, log: [.updatedIsUnknown(key)]),
        .init(sends: "created twice", local: .unknown, created: [new, same], row: "", failure: .duplicateID(key)),
        .init(
            sends: "created and updated", local: .unknown, created: [new], updated: [same], row: "",
            log: [.updatedIsUnknown(key)], failure: .duplicateID(key)),
        .init(
            sends: "updated twice", local: .synced, updated: [new, same.replacing("old", with: "newer")],
            row: #"synced [] "old" "old" 1 true"#, failure: .cannotUpdatePending(key)),
        .init(
            sends: "updated twice without difference", local: .synced, updated: [same, same],
            row: #"synced [] "old" "old" 1 true"#),
        .init(
            sends: "a part of the columns", local: .synced, updated: [#"{"id":"r","note":null}"#],
            row: #"synced [] "old" null 1 true"#),
        .init(
            sends: "a part of the columns", local: .unknown, created: [#"{"id":"r","name":"new"}"#],
            row: #"synced [] "new" null 0 false"#),
        .init(
            sends: "an unknown column", local: .synced, updated: [#"{"id":"r","name":"new","zzz":1}"#],
            row: #"synced [] "new" "old" 1 true"#),
        .init(
            sends: "__proto__", local: .unknown, created: [#"{"id":"r","__proto__":{}}"#], row: "",
            failure: .maliciousRecord(table: "t")),
        .init(
            sends: "__proto__", local: .synced, updated: [#"{"id":"r","__proto__":{},"name":"new"}"#],
            row: #"synced [] "new" "old" 1 true"#),
        .init(
            sends: "no id", local: .synced, created: [#"{"name":"x"}"#], row: #"synced [] "old" "old" 1 true"#,
            failure: .invalidRecord(table: "t")),
        .init(
            sends: "no object", local: .synced, updated: ["[]"], row: #"synced [] "old" "old" 1 true"#,
            failure: .invalidRecord(table: "t")),
        .init(
            sends: "_status", local: .synced, updated: [#"{"id":"r","_status":"synced"}"#],
            row: #"synced [] "old" "old" 1 true"#, failure: .invalidRecord(table: "t")),
        .init(
            sends: "_changed", local: .unknown, created: [#"{"id":"r","_changed":""}"#], row: "",
            failure: .invalidRecord(table: "t")),
    ]

    @Test(arguments: reactions)
    func `the client reacts as the table says`(reaction: Reaction) throws {
        var client = try reaction.local.client()
        let before = client.database
        let applied = client.apply(
            changes(
                created: reaction.created, updated: reaction.updated, deleted: reaction.deleted, timestamp: "2000"))
        #expect(applied.failure == reaction.failure)
        #expect(applied.log == reaction.log)
        #expect(client.row == reaction.row)
        #expect(client.text(of: "other") == #"synced [] "other" null 0 false"#)
        #expect(client.lastPulledAt == (reaction.failure == nil ? 2000 : 1000))
        if reaction.failure != nil { #expect(client.database == before) }
    }

    @Test(arguments: LocalState.allCases)
    func `what was changed locally and survives is still pushed`(local: LocalState) throws {
        var client = try local.client()
        #expect(client.apply(changes(updated: [Self.new])).isApplied)
        let expected: [LocalState: [[String]]] = [
            .updated: [[], ["r"], []], .created: [["r"], [], []], .createdAndEdited: [["r"], [], []],
            .deleted: [[], [], ["r"]],
        ]
        #expect(client.pushed == expected[local] ?? [[], [], []])
    }

    @Test func `a row that a failed sync prepared stays unusable until the app starts again`() throws {
        var client = try LocalState.synced.client()
        let broken = changes(updated: [Self.new], deleted: ["r"])
        #expect(client.apply(broken).failure == .cannotDestroyPending(Self.key))
        let next = Self.new.replacing("new", with: "next")
        #expect(client.apply(changes(updated: [next])).failure == .cannotUpdatePending(Self.key))
        #expect(client.apply(changes(updated: [Self.new])).isApplied, "the model shows that already")
        #expect(throws: ClientFailure.cannotUpdatePending(Self.key)) {
            try client.update("t", "r", with: ["name": "mine"])
        }
        #expect(client.apply(changes(updated: [#"{"id":"other","name":"fine"}"#])).isApplied)
        client.restart()
        #expect(client.apply(changes(updated: [next])).isApplied)
        #expect(client.row == #"synced [] "next" "next" 2 false"#)
    }

    @Test func `a duplicate breaks LokiJS until the app starts again`() throws {
        var options = ClientModel.Options()
        options.adapter = .loki
        var client = try LocalState.unknown.client(options)
        #expect(client.apply(changes(created: [Self.new, Self.new])).failure == .adapterBroken)
        #expect(client.apply(changes()).failure == .adapterBroken)
        client.restart()
        #expect(client.apply(changes()).isApplied)
    }

    @Test func `a record with a number as id comes back as the client's own, on every pull`() throws {
        var client = try LocalState.unknown.client()
        for count in 1...2 {
            #expect(client.apply(changes(created: [#"{"id":17,"name":"x"}"#])).isApplied)
            #expect(client.pushed[0].count == count)
        }
        #expect(Set(client.pushed[0]).count == 2 && client.pushed[0].allSatisfy { $0.count == 16 })
    }

    @Test func `a record with null as id is a number's fate on SQLite and an error on LokiJS`() throws {
        var client = try LocalState.unknown.client()
        #expect(client.apply(changes(created: [#"{"id":null}"#])).isApplied)
        client.options.adapter = .loki
        #expect(client.apply(changes(created: [#"{"id":null}"#])).failure == .invalidRecord(table: "t"))
    }

    @Test func `a deleted id that is no text fails the sync`() throws {
        var client = try LocalState.synced.client()
        let body = #"{"changes":{"t":{"created":[],"updated":[],"deleted":[17]}},"timestamp":2000}"#
        #expect(client.apply(Array(body.utf8)).failure == .invalidDeletedID(table: "t"))
    }

    @Test func `one id in two tables is fine`() throws {
        var client = try LocalState.unknown.client()
        let set = #"{"created":[{"id":"r"}],"updated":[],"deleted":[]}"#
        #expect(client.apply(Array(#"{"changes":{"t":\#(set),"u":\#(set)},"timestamp":2000}"#.utf8)).isApplied)
        #expect(client.contents["u"]?.count == 1 && client.contents["t"]?.count == 2)
    }

    @Test(arguments: [
        #"{"updated":[],"deleted":[]}"#, #"{"created":[],"deleted":[]}"#, #"{"created":[],"updated":[]}"#,
        #"{"created":null,"updated":[],"deleted":[]}"#, "null", "[]", "{}",
    ])
    func `a table without all three lists fails before anything is applied`(set: String) throws {
        var client = try LocalState.synced.client()
        for table in ["t", "nobody_knows"] {
            let other = #""u":{"created":[{"id":"x"}],"updated":[],"deleted":[]}"#
            let body = #"{"changes":{\#(other),"\#(table)":\#(set)},"timestamp":2000}"#
            guard case .typeError = client.apply(Array(body.utf8)).failure else {
                Issue.record("the sync went on")
                continue
            }
        }
        #expect(client.contents["u"]?.isEmpty == true && client.lastPulledAt == 1000)
    }

    @Test(arguments: [#""changes":{},"#, #""changes":null,"#, #""changes":[],"#, ""])
    func `no changes are nothing, and yet the time is stored`(changes: String) throws {
        var client = try LocalState.synced.client()
        #expect(client.apply(Array(#"{\#(changes)"timestamp":2000}"#.utf8)).isApplied)
        #expect(client.lastPulledAt == 2000 && client.row == #"synced [] "old" "old" 1 true"#)
    }

    @Test func `an unknown table is passed over`() throws {
        var client = try LocalState.synced.client()
        let body = #"{"changes":{"x":{"created":[{}],"updated":[],"deleted":[]}},"timestamp":2000,"more":1}"#
        let applied = client.apply([0xef, 0xbb, 0xbf] + Array(body.utf8))
        #expect(applied == ClientApplied(log: [.unknownTable("x")], remoteChangeCount: 1))
    }

    @Test func `sendCreatedAsUpdated only turns the log around`() throws {
        var options = ClientModel.Options()
        options.sendCreatedAsUpdated = true
        var client = try LocalState.created.client()
        client.options = options
        #expect(client.apply(changes(updated: [#"{"id":"y"}"#])).log.isEmpty)
        #expect(client.apply(changes(created: [#"{"id":"z"}"#])).log == [.createdDespiteFlag(table: "t")])
    }

    /// A column, what the server sends, and what the client stores; once as it is and once where null is allowed.
    @Test(arguments: [
        ("string", #""a\u0000🌙""#, ClientValue.string("a\u{0}🌙"), ClientValue.string("a\u{0}🌙")),
        ("string", "1", "", .null), ("string", "null", "", .null), ("string", "{}", "", .null),
        ("number", "1.5", 1.5, 1.5), ("number", "-0", 0, 0), ("number", "1e400", 0, .null),
        ("number", #""1""#, 0, .null),
        ("number", #""2023-11-14T22:13:20.123Z""#, 0, .null),
        ("number", "9007199254740993", 9_007_199_254_740_992, 9_007_199_254_740_992),
        ("number", "true", 0, .null), ("boolean", "true", true, true), ("boolean", "1", true, true),
        ("boolean", "0", false, false), ("boolean", "2", false, .null), ("boolean", #""true""#, false, .null),
        ("boolean", "null", false, .null),
    ])
    func `a value of the wrong type becomes the default`(
        kind: String, json: String, required: ClientValue, optional: ClientValue
    ) throws {
        let type = try #require(ClientSchema.Column.Kind(rawValue: kind))
        let schema = ClientSchema(tables: [.init("t", columns: [.init("a", type), .init("b", type, isOptional: true)])])
        var client = ClientModel(schema: schema, seed: 1)
        #expect(client.apply(changes(created: [#"{"id":"r","a":\#(json),"b":\#(json)}"#])).isApplied)
        #expect(client.record("t", "r")?.values == ["a": required, "b": optional])
    }

    @Test(arguments: ["0", "-1", #""2000""#, "null", "true", #""2023-11-14T22:13:20.123Z""#, "[]"])
    func `a timestamp that is no number above zero refuses the whole pull`(timestamp: String) throws {
        var client = try LocalState.synced.client()
        let applied = client.apply(changes(updated: [Self.new], timestamp: timestamp))
        #expect(applied.failure == .invalidTimestamp)
        #expect(client.row == #"synced [] "old" "old" 1 true"# && client.lastPulledAt == 1000)
    }

    @Test(
        arguments: [
            ("1700000000123", "1700000000123", 1_700_000_000_123), ("0.5", "0.5", nil), ("2000.9", "2000.9", 2000),
            ("1e21", "1e+21", 1), ("1e400", "Infinity", nil), ("1e20", "100000000000000000000", 1e20),
            ("1e-7", "1e-7", 1),
        ] as [(String, String, Double?)])
    func `the timestamp is stored as text and read with parseInt`(json: String, text: String, read: Double?) throws {
        var client = ClientModel(schema: .fixture, seed: 1)
        #expect(client.apply(changes(timestamp: json)).isApplied)
        #expect(client.database.lastPulledAtText == text)
        #expect(client.lastPulledAt == read)
    }

    @Test func `a time that goes back is logged and stored`() throws {
        var client = try LocalState.synced.client()
        #expect(client.apply(changes(timestamp: "1000")).log.isEmpty)
        #expect(client.apply(changes(timestamp: "999")).log == [.timestampWentBack(from: 1000, to: 999)])
        #expect(client.lastPulledAt == 999)
    }

    @Test func `a sync that finished in between refuses this one`() throws {
        var client = try LocalState.synced.client()
        let arguments = try client.pullArguments().arguments
        #expect(client.apply(changes(timestamp: "2000"), to: arguments).isApplied)
        #expect(client.apply(changes(timestamp: "2000"), to: arguments).failure == .concurrentSync)
    }

    @Test(arguments: ["", "<html>", "{", "null"])
    func `an answer that is no object fails the sync`(body: String) throws {
        var client = try LocalState.synced.client()
        #expect(!client.apply(Array(body.utf8)).isApplied)
        #expect(client.lastPulledAt == 1000)
    }
}
