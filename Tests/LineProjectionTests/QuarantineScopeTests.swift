// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncModel
import Testing

/// Finding 13: what sits in a quarantined line has not gone.
@Suite struct QuarantineScopeTests {
    static let albums = Table.make("albums", upsert: "AlbumV1", columns: [.make("name", .string)])
        .with(deletes: [.init(type: "AlbumDeleteV1", target: .by([Path(name: "id")], all: false))])
    static let links = Table.make("links", upsert: "LinkV1", columns: [])
        .with(ids: [.init(paths: [Path(dotted: "a"), Path(dotted: "b.0")])])
    static let later = Table.make("later", upsert: "LaterV1", columns: []).with(since: 5)

    static func bench() -> ProjectionBench { ProjectionBench(albums, links, later) }

    static func record(_ id: String, table: Int = 0) -> QuarantineScope {
        .record(table: table, feed: 0, id: IDHash(id: id, key: ProjectionBench.key))
    }

    /// The byte 0xff stands for `¿`.
    static func bytes(_ line: String) -> [UInt8] {
        Array(line.replacing("¿", with: "\u{1}").utf8).map { $0 == 1 ? 0xff : $0 }
    }

    @Test(
        arguments: [
            #"{"type":"AlbumV1","data":{"id":"a1","name":"¿"},"ack":"AlbumV1|1"}"#,
            #"{"type":"AlbumV1","data":{"id":"a1","name":"cut o"#, #"{"type":"AlbumV1","data":{"id":"a1""#,
            #"{"type":"AlbumV1","data":{"id":"a1"},"ack":"AlbumV1|1"#, #"{"type":"AlbumV1","data":{"id":"a1"}} x"#,
            #"{"type":"AlbumV1","data":{"id":"a1","n":01}}"#,
            #"{"data":{"id":"a1"},"type":"AlbumV1","ack":¿}"#,
            #"{"ack":"AlbumV1|1","data":{"id":"a1"},"type":"AlbumV1","#,
            #"{"type":"AlbumV1","data":{"\u0069d":"\u00611","x":tru}}"#,
            #"{"type":"AlbumDeleteV1","data":{"id":"b"},"type":"AlbumV1","data":{"id":"a1",}}"#,
            #"{"type":"AlbumDeleteV1","data":{"id":"a1"},"type":"AlbumV1",}"#,
            #"{"type":"AlbumV1","data":{"id":"a1","x":"# + String(repeating: "[", count: 200),
            #"{"type":"AlbumV1","data":{"id":"a1","type":"IMAGE","x":"¿"}}"#,
            #"{"type":"AlbumV1","data":{"id":"a1","text":"{\"type\":\"AlbumV1\"}","x":"¿"}}"#,
        ])
    func `a line that is no JSON is about the record whose id stands before the error`(line: String) {
        var bench = Self.bench()
        let (result, text) = bench.project(Self.bytes(line))
        #expect(result.scope == Self.record("a1"))
        #expect(text.isEmpty)
        #expect(bench.projector.quarantined?.id == "a1")
        #expect(bench.projector.quarantined?.table == "albums")
    }

    @Test func `numbers and composite ids are read too, where nothing of them can be missing`() {
        let cases: [(String, QuarantineScope)] = [
            (#"{"type":"AlbumV1","data":{"id":12,"name":"¿"}}"#, Self.record("12")),
            (#"{"type":"AlbumV1","data":{"id":12 ,"#, Self.record("12")),
            (#"{"type":"AlbumV1","data":{"id":12"#, .table(0)), (#"{"type":"AlbumV1","data":{"id":12x4"#, .table(0)),
            (#"{"type":"LinkV1","data":{"a":"A","b":["B",1],"c":"¿"}}"#, Self.record("A.B", table: 1)),
            (#"{"type":"LinkV1","data":{"b":[7],"a":-0,"c":"¿"}}"#, Self.record("0.7", table: 1)),
            (#"{"type":"LinkV1","data":{"a":"A","c":"¿","b":["B"]}}"#, .table(1)),
            (#"{"type":"LinkV1","data":{"a":"A","b":["B"#, .table(1)),
        ]
        for (line, scope) in cases {
            var bench = Self.bench()
            #expect(bench.project(Self.bytes(line)).result.scope == scope, "\(line)")
        }
    }

    @Test(
        arguments: [
            #"{"type":"AlbumV1"}"#, #"{"type":"AlbumV1","data":null}"#, #"{"type":"AlbumV1","data":[]}"#,
            #"{"type":"AlbumV1","data":{}}"#, #"{"type":"AlbumV1","data":{"id":null}}"#,
            #"{"type":"AlbumV1","data":{"id":""}}"#,
            #"{"type":"AlbumV1","data":{"id":{}}}"#, #"{"type":"AlbumV1","data":{"id":1.5}}"#,
            #"{"type":"AlbumV1","data":{"id":true}}"#, #"{"type":"AlbumV1","data":{"name":"¿","id":"a1"}}"#,
            #"{"type":"AlbumV1","data":{"id":"a¿"}}"#, #"{"type":"AlbumV1","data":{"id":"a"#, #"{"type":"AlbumV1",x"#,
            #"{"type":"AlbumV1","data":"¿"}"#, #"{"type":"AlbumV1","data":{"id":"a1"},"data":["#,
        ])
    func `a record without a readable id may be any of its table`(line: String) {
        var bench = Self.bench()
        #expect(bench.project(Self.bytes(line)).result.scope == .table(0))
    }

    @Test(
        arguments: [
            "", "{", "[]", "7", "{}", #"{"type":7,"data":{"id":"a1"}}"#,
            #"{"data":{"id":"a1","x":¿},"type":"AlbumV1"}"#,
            #"{"type":"Alb"#, #"{"ty¿pe":"AlbumV1","data":{"id":"a1"}}"#, #"{"type":null,"data":{"id":"a1"}} x"#,
        ])
    func `a line without a readable type may be about every record`(line: String) {
        var bench = Self.bench()
        #expect(bench.project(Self.bytes(line)).result.scope == .everything)
    }

    @Test(
        arguments: [
            #"{"type":"AlbumDeleteV1","data":{}}"#, #"{"type":"AlbumDeleteV1","data":{"id":"a b"}}"#,
            #"{"type":"AlbumDeleteV1","data":{"id":"a1","x":"¿"}}"#, #"{"type":"AlbumDeleteV1"}"#,
            #"{"type":"Unheard","data":{"id":"a1","x":"¿"}}"#, #"{"type":"LaterV1","data":{"id":"a1","x":"¿"}}"#,
            #"{"type":"SyncAckV1","ack":"¿"}"#, #"{"type":"SyncCompleteV1","#, #"{"type":"SyncResetV1","#,
            #"{"type":"AlbumV1","data":{"id":"a b"}}"#, #"{"type":"AlbumV1","data":{"id":".."}}"#,
            #"{"type":"AlbumV1","data":{"id":"a/b","name":"¿"}}"#,
            #"{"type":"AlbumV1","data":{"id":"\#(String(repeating: "a", count: 256))"}}"#,
        ])
    func `what carries no record that a client can hold holds nothing back`(line: String) {
        var bench = Self.bench()
        #expect(bench.project(Self.bytes(line)).result.scope == .nothing)
    }

    @Test func `records of lines that ran into one another are not forgotten`() {
        let cases: [(String, QuarantineScope)] = [
            (#"{"type":"AlbumV1","data":{"id":"1","na{"type":"AlbumV1","data":{"id":"2"}}"#, .table(0)),
            (#"{"type":"AlbumV1","data":{"id":"1"}}{"type":"AlbumV1","data":{"id":"2"}}"#, .table(0)),
            (#"{"type":"AlbumV1","data":{"id":"1"}}{"data":{"a":"A"}, "type" : "LinkV1"}"#, .everything),
            (#"{"type":"AlbumDeleteV1","data":{"id":"1"}}{"type":"LinkV1","data":{}}"#, .table(1)),
            (#"{"type":"Unheard","data":{"id"{"type":"AlbumV1","data":{"id":"2"}}"#, .table(0)),
            (#"{"type":"AlbumV1","data":{"id":"1"}}{"type":"AlbumDeleteV1","data":{"id":"2"}}"#, Self.record("1")),
            (#"{"type":"AlbumV1","data":{"id":"1"}}{"type":"Unheard","data":{"id":"2"}}"#, Self.record("1")),
        ]
        for (line, scope) in cases {
            var bench = Self.bench()
            #expect(bench.project(Self.bytes(line)).result.scope == scope, "\(line)")
        }
    }

    @Test(
        arguments: [
            (#"{"type":"AlbumV1","data":{"id":"a1","name":"xxx"#, record("a1")),
            (#"{"type":"AlbumV1","data":{"name":"xxx"#, .table(0)), (#"{"type":"AlbumV1","data":{"id":"a1"#, .table(0)),
            (#"{"type":"AlbumV1","data":{"id":12"#, .table(0)),
            (#"{"type":"AlbumDeleteV1","data":{"id":"a1"#, .nothing),
            (#"{"data":{"id":"a1","name":"xxx"#, .everything),
            (#"{"type":"AlbumV1","data":{"id":"a1"}}{"type":"LinkV1","data":{"a":"xx"#, .everything),
        ] as [(String, QuarantineScope)])
    func `of a line that was too long the head tells the record`(head: String, scope: QuarantineScope) {
        var bench = Self.bench()
        let tail = Self.bytes(#"xxxx"},"ack":"AlbumV1|9"}"#)
        let result = Self.bytes(head).withUnsafeBytes { head in
            tail.withUnsafeBytes { bench.projector.projectTooLong(head: head, tail: $0) }
        }
        #expect(result == .quarantined(.tooLong, scope: scope))
    }
}
