// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel
import Testing

@Suite struct LineProjectorTests {
    static let albums = Table.make(
        "albums", upsert: "AlbumV1", "AlbumV2",
        columns: [
            .make("name", .string, .at("albumName")), .make("order", .string, optional: true),
            .make("is_shared", .boolean, since: 12, .at("isShared")),
        ]
    ).with(deletes: [.init(type: "AlbumDeleteV1", target: .by([Path(name: "albumId")], all: false))])

    static let links = Table.make(
        "album_assets", upsert: "AlbumToAssetV1",
        columns: [.make("album_id", .string, .at("albumId")), .make("asset_id", .string, .at("assetId"))]
    ).with(
        ids: [.init(paths: [Path(name: "albumId"), Path(name: "assetId")])],
        deletes: [
            .init(type: "AlbumToAssetDeleteV1", target: .by([Path(name: "albumId"), Path(name: "assetId")], all: true))
        ],
        since: 9)

    static let ocr = Table.make("ocr", upsert: "AssetOcrV1", columns: [.make("asset_id", .string, .at("assetId"))])
        .with(deletes: [
            .init(type: "AssetOcrDeleteV1", target: .whereColumn("asset_id", equals: Path(name: "assetId")))
        ])

    static func bench(version: Int = 12) -> ProjectionBench { ProjectionBench(albums, links, ocr, version: version) }

    static func hash(_ id: String) -> IDHash { IDHash(id: id, key: ProjectionBench.key) }

    @Test func `an upsert becomes a record with the client's names in the order of the configuration`() {
        var bench = Self.bench()
        let line =
            #"{"type":"AlbumV2","data":{"order":"asc","id":"a1","isShared":true,"albumName":"Ü","x":[]},"#
            + #""ack":"AlbumV2|7"}"#
        let text = #"{"id":"a1","name":"Ü","order":"asc","is_shared":true}"#
        let (result, written) = bench.project(line)
        #expect(written == text)
        #expect(result == .upsert(table: 0, feed: 0, id: Self.hash("a1"), range: 0..<text.utf8.count))
        #expect(bench.projector.lastCheckpoint == Checkpoint(namespace: "AlbumV2", token: "AlbumV2|7"))
        #expect(bench.projector.counters.linesByType == ["AlbumV2": 1])
    }

    @Test func `members of the envelope and of the data may stand in any order`() {
        let members = [#""type":"AlbumV1""#, #""data":{DATA}"#, #""ack":"AlbumV1|7""#, #""more":{"type":"x"}"#]
        let data = [#""id":"a1""#, #""albumName":"N""#, #""order":null"#]
        for envelope in Self.permutations(members) {
            for content in Self.permutations(data) {
                var bench = Self.bench(version: 1)
                let line = "{" + envelope.joined(separator: ",") + "}"
                let text = bench.text(line.replacing("DATA", with: content.joined(separator: ",")))
                #expect(text == #"{"id":"a1","name":"N","order":null}"#)
                #expect(bench.projector.receivedTokens.tokens == ["AlbumV1": "AlbumV1|7"])
            }
        }
    }

    static func permutations(_ items: [String]) -> [[String]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index -> [[String]] in
            var rest = items
            let item = rest.remove(at: index)
            return permutations(rest).map { [item] + $0 }
        }
    }

    @Test func `names may be escaped and the last of repeated members counts`() {
        var bench = Self.bench(version: 1)
        #expect(
            bench.text(
                ##"{"typ\u0065":"AlbumV1","d\u0061ta":{"\u0069d":"a1","\u0061lbumName":"N"},"ac\u006b":"AlbumV1|1"}"##)
                == #"{"id":"a1","name":"N","order":null}"#)
        #expect(bench.projector.receivedTokens.tokens == ["AlbumV1": "AlbumV1|1"])
        #expect(
            bench.text(
                #"{"type":"AlbumV1","data":{"id":"a1","albumName":"N","id":"a2","albumName":"M","albumName":null}}"#)
                == #"{"id":"a2","name":"","order":null}"#)
        #expect(
            bench.text(#"{"type":"AlbumV1","data":{"id":"a1","order":"x"},"data":{"id":"a2"}}"#)
                == #"{"id":"a2","name":"","order":null}"#)
        #expect(
            bench.text(#"{"type":"AlbumDeleteV1","data":{"id":"a1","albumId":"b"},"type":"AlbumV1"}"#)
                == #"{"id":"a1","name":"","order":null}"#)
        #expect(
            bench.text(#"{"type":"AlbumV1","data":{"id":"a1","albumId":"b"},"type":"Album\u0044eleteV1"}"#) == #""b""#)
    }

    @Test func `deletes say table, feed and id`() {
        var bench = Self.bench()
        #expect(
            bench.result(#"{"type":"AlbumDeleteV1","data":{"albumId":"B"},"ack":"AlbumDeleteV1|1"}"#)
                == .delete(table: 0, feed: 0, all: false, id: Self.hash("B"), range: 0..<3))
        let (result, text) = bench.project(#"{"type":"AlbumToAssetDeleteV1","data":{"assetId":"s","albumId":"A"}}"#)
        #expect(text == #""A.s""#)
        #expect(result == .delete(table: 1, feed: 0, all: true, id: Self.hash("A.s"), range: 3..<8))
        let byColumn = bench.project(
            #"{"type":"AssetOcrDeleteV1","data":{"id":"9","assetId":"s"},"ack":"AssetOcrDeleteV1|1"}"#)
        #expect(byColumn.text == #""s""#)
        #expect(
            byColumn.result
                == .deleteWhere(
                    table: 2, feed: 0, column: 0, link: 0, digest: Self.hash("s").link, range: 8..<11))
        #expect(bench.result(#"{"type":"AssetOcrDeleteV1","data":{"id":"9"}}"#) == .quarantined(.noID, scope: .nothing))
        #expect(
            bench.result(#"{"type":"AssetOcrDeleteV1","data":{"assetId":null}}"#)
                == .quarantined(.noID, scope: .nothing))
        #expect(
            bench.result(#"{"type":"AssetOcrDeleteV1","data":{"assetId":[5]}}"#)
                == .quarantined(.unsafeID, scope: .nothing))
    }

    @Test func `each type of a table with several feeds has its feed`() {
        var table = Table.make("assets", upsert: "AssetV1", "PartnerAssetV1", columns: [])
        table.feeds = [
            .init(versions: [.init(requestType: "AssetsV1")]), .init(versions: [.init(requestType: "PartnerAssetsV1")]),
        ]
        table.deletes = [
            .init(type: "AssetDeleteV1", target: .by([Path(name: "assetId")], all: true)),
            .init(type: "PartnerAssetDeleteV1", target: .by([Path(name: "assetId")], all: false)),
        ]
        var bench = ProjectionBench(table)
        let lines = [
            (#"{"type":"AssetV1","data":{"id":"1"}}"#, 0), (#"{"type":"PartnerAssetV1","data":{"id":"1"}}"#, 1),
            (#"{"type":"AssetDeleteV1","data":{"assetId":"1"}}"#, 0),
            (#"{"type":"PartnerAssetDeleteV1","data":{"assetId":"1"}}"#, 1),
        ]
        for (line, expected) in lines {
            switch bench.result(line) {
            case .upsert(_, let feed, _, _), .delete(_, let feed, _, _, _): #expect(feed == expected)
            default: Issue.record("\(line)")
            }
        }
    }

    @Test(arguments: [
        (#""a-b_C.9""#, "a-b_C.9"), ("42", "42"), ("-7", "-7"), ("-0", "0"),
        ("123456789012345678901234", "123456789012345678901234"),
        (#""\u0061""#, "a"), ("17.0", "17"), ("1.7e1", "17"), ("-0.0", "0"), (#""17""#, "17"),
    ])
    func `a plain id is a safe string or an integer, however that is spelled`(json: String, id: String) {
        var bench = Self.bench()
        #expect(
            bench.result(#"{"type":"AlbumDeleteV1","data":{"albumId":\#(json)}}"#)
                == .delete(table: 0, feed: 0, all: false, id: Self.hash(id), range: 0..<(id.utf8.count + 2)))
    }

    @Test(arguments: [
        (#""""#, QuarantinedLine.Reason.unsafeID), (#"".""#, .unsafeID), (#""..""#, .unsafeID), (#""a b""#, .unsafeID),
        (#""a/b""#, .unsafeID), (#""é""#, .unsafeID), (#""a\u0000""#, .unsafeID), (#""\ud800""#, .unsafeID),
        ("1.5", .unsafeID), ("9007199254740993.0", .unsafeID),
        ("1e300", .unsafeID), ("true", .unsafeID), ("{}", .unsafeID), ("[]", .unsafeID), ("null", .noID),
        ("\"" + String(repeating: "a", count: 256) + "\"", .unsafeID),
    ])
    func `an id that clients cannot hold is quarantined and leaves no trace`(
        json: String, reason: QuarantinedLine.Reason
    ) {
        var bench = Self.bench()
        let (result, text) = bench.project(
            #"{"type":"AlbumV1","data":{"id":\#(json),"albumName":"N"},"ack":"AlbumV1|5"}"#)
        #expect(result.reason == reason)
        #expect(text.isEmpty)
        #expect(bench.projector.quarantined?.table == "albums")
        #expect(bench.projector.quarantined?.namespace == "AlbumV1")
        #expect(bench.projector.receivedTokens["AlbumV1"] == "AlbumV1|5")
        #expect(bench.projector.counters.quarantined == [reason: 1])
    }

    @Test(arguments: [
        (#""A""#, #""s""#, "A.s"), ("1", "2", "1.2"), ("1.0", "2e1", "1.20"), (#""a.b""#, #""c_d""#, "a_2eb.c_5fd"),
        (#""é""#, #""/""#, "_c3_a9._2f"),
        (#""\u002e""#, #""-""#, "_2e.-"),
    ])
    func `parts of a composite id are escaped and joined`(first: String, second: String, id: String) {
        var bench = Self.bench()
        let (_, text) = bench.project(#"{"type":"AlbumToAssetV1","data":{"albumId":\#(first),"assetId":\#(second)}}"#)
        #expect(text.hasPrefix(#"{"id":"\#(id)","#))
    }

    @Test(arguments: [
        (#"{"albumId":"A"}"#, QuarantinedLine.Reason.noID), (#"{"albumId":"A","assetId":null}"#, .noID),
        (#"{"albumId":"A","assetId":""}"#, .unsafeID), (#"{"albumId":"A","assetId":[]}"#, .unsafeID),
        (#"{"albumId":"A","assetId":"\#(String(repeating: "é", count: 60))"}"#, .unsafeID),
    ])
    func `a composite id needs all its parts`(data: String, reason: QuarantinedLine.Reason) {
        var bench = Self.bench()
        #expect(bench.result(#"{"type":"AlbumToAssetV1","data":\#(data)}"#).reason == reason)
    }

    @Test func `an id rule may be for some types only`() {
        let table = Table.make("t", upsert: "AV1", "BV1", columns: []).with(ids: [
            .init(paths: [Path(dotted: "key.0")], types: ["BV1"]), .init(paths: [Path(name: "id")]),
        ])
        var bench = ProjectionBench(table)
        #expect(bench.text(#"{"type":"AV1","data":{"id":"a","key":["b"]}}"#) == #"{"id":"a"}"#)
        #expect(bench.text(#"{"type":"BV1","data":{"id":"a","key":["b"]}}"#) == #"{"id":"b"}"#)
    }

    @Test func `a client gets the tables and columns of its version`() {
        let line = #"{"type":"AlbumV1","data":{"id":"a","albumName":"N","isShared":true}}"#
        let link = #"{"type":"AlbumToAssetV1","data":{"albumId":"A","assetId":"S"}}"#
        var old = Self.bench(version: 8)
        #expect(old.text(line) == #"{"id":"a","name":"N","order":null}"#)
        #expect(old.result(link) == .unknownType)
        var middle = Self.bench(version: 9)
        #expect(middle.text(link) == #"{"id":"A.S","album_id":"A","asset_id":"S"}"#)
        var new = Self.bench(version: 12)
        #expect(new.text(line) == #"{"id":"a","name":"N","order":null,"is_shared":true}"#)
    }

    @Test func `the first source that is present wins`() {
        let table = Table.make(
            "t", upsert: "AV1", "BV1",
            columns: [
                .make("a", .string, optional: true, .at("x.name"), .at("list.1"), .at("y")),
                .make("b", .number, optional: true, .at("n", in: "BV1"), .at("m")),
                .make("kind", .string, .lineType), .make("fix", .number, .literal(.number(2.5))),
                .make("c", .string, .at("c"), .literal(.string("a\"b"))),
                .make("d", .boolean, .literal(.boolean(true))),
                .make("e", .string, .literal(.number(1))), .make("j", .json, .literal(.string("{}"))),
                .make("_status", .string, .at("y")), .make("_changed", .string, .at("y")),
            ])
        var bench = ProjectionBench(table)
        func expect(_ data: String, _ columns: String, type: String = "AV1", c: String = #""a\"b""#) {
            let rest = #""kind":"\#(type)","fix":2.5,"c":\#(c),"d":true,"e":"1","j":"{}""#
            #expect(
                bench.text(#"{"type":"\#(type)","data":{"id":"1",\#(data)}}"#) == #"{"id":"1",\#(columns),\#(rest)}"#)
        }
        expect(#""x":{"name":"X"},"list":["p","q"],"y":"Y""#, #""a":"X","b":null"#)
        expect(#""y":"Y","x":{"nam":"X"},"list":["p","q"]"#, #""a":"q","b":null"#)
        expect(#""y":"Y","x":null,"list":["p"]"#, #""a":"Y","b":null"#)
        expect(#""y":"Y","x":{"name":null}"#, #""a":null,"b":null"#)
        expect(#""y":"Y","x":{"name":"1","name":"2"}"#, #""a":"2","b":null"#)
        expect(#""x":{"name":"1"},"x":{},"y":"Y""#, #""a":"Y","b":null"#)
        expect(#""x":[1],"list":{"1":"no"},"y":"Y""#, #""a":"Y","b":null"#)
        expect(#""n":1,"m":2"#, #""a":null,"b":2"#)
        expect(#""n":1,"m":2"#, #""a":null,"b":1"#, type: "BV1")
        expect(#""c":"C""#, #""a":null,"b":null"#, c: #""C""#)
    }

    @Test func `control lines are what the rules name`() {
        var bench = Self.bench()
        #expect(bench.result(#"{"type":"SyncAckV1","data":{},"ack":"AlbumAssetUpdateV2|9"}"#) == .ackOnly)
        #expect(bench.projector.lastCheckpoint?.namespace == "AlbumAssetUpdateV2")
        #expect(bench.result(#"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|9"}"#) == .complete)
        #expect(bench.result(#"{"type":"SyncCompleteV1"}"#) == .complete)
        #expect(bench.result(#"{"type":"SyncResetV1","data":{},"ack":"SyncResetV1|reset"}"#) == .reset)
        #expect(bench.projector.lastCheckpoint == nil)
        #expect(bench.projector.resetToken == "SyncResetV1|reset")
        #expect(
            bench.projector.receivedTokens.tokens == [
                "AlbumAssetUpdateV2": "AlbumAssetUpdateV2|9", "SyncCompleteV1": "SyncCompleteV1|9",
            ])
    }

    @Test func `the envelope's fields and types can have other names`() {
        var rules = EnvelopeRules()
        rules.typeField = "kind"
        rules.ackField = "token"
        rules.dataField = "row"
        rules.completeType = "done"
        rules.resetType = nil
        rules.ackOnlyTypes = []
        var bench = ProjectionBench(.make("t", upsert: "T", columns: []), rules: rules)
        #expect(bench.text(#"{"token":7,"kind":"T","row":{"id":"a"},"type":"x"}"#) == #"{"id":"a"}"#)
        #expect(bench.projector.receivedTokens.tokens == ["T": "7"])
        #expect(bench.result(#"{"kind":"done"}"#) == .complete)
        #expect(bench.result(#"{"kind":"SyncResetV1"}"#) == .unknownType)
    }

    @Test func `what a column got is noted for the operator`() {
        let table = Table.make(
            "t", upsert: "TV1", columns: [.make("n", .number, .at("n")), .make("gone", .string), .make("ok", .string)])
        var bench = ProjectionBench(table)
        bench.projector.observer = ProjectionObserver()
        for value in [#""2026-01-02T03:04:05Z""#, "1", "null"] {
            _ = bench.text(#"{"type":"TV1","data":{"id":"1","n":\#(value),"ok":"x"}}"#)
        }
        let observer = bench.projector.observer
        let facts = observer?.facts(table: 0, column: 0)
        #expect(facts?.values == 1 && facts?.nulls == 1 && facts?.wrong == 1 && facts?.absent == 0)
        #expect(facts?.wrongKind == .string && facts?.wrongIsDate == true)
        #expect(facts?.wrongExample == #""2026-01-02T03:04:05Z""#)
        #expect(observer?.facts(table: 0, column: 1).absent == 3)
        #expect(observer?.facts(table: 0, column: 2).values == 3)
        #expect(observer?.records(table: 0, column: 2) == 3)
    }
}
