// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel
import Testing

@Suite struct TokensAndQuarantineTests {
    static func bench() -> ProjectionBench {
        ProjectionBench(.make("albums", upsert: "AlbumV1", "AlbumV2", columns: [.make("name", .string)]))
    }

    @Test func `the newest token of every namespace is kept`() {
        var bench = Self.bench()
        let lines = [
            #"{"type":"AlbumV1","data":{"id":"1"},"ack":"AlbumV1|1"}"#,
            #"{"type":"AlbumV1","data":{"id":"2"},"ack":"AlbumV1|22"}"#,
            #"{"type":"AlbumV2","data":{"id":"2"},"ack":"plain"}"#,
            #"{"type":"SyncAckV1","data":{},"ack":"AlbumBackfillV1|c|complete"}"#,
            #"{"type":"AlbumV1","data":{"id":"3"},"ack":"AlbumV1|3"}"#,
            #"{"type":"AlbumV2","data":{"id":"2"},"ack":"plainer"}"#,
            #"{"type":"Unheard","ack":"Unheard|\u0031"}"#,
            #"{"type":"AlbumV1","data":{"id":"3"}}"#,
            #"{"type":"AlbumV1","data":{"id":"3"},"ack":""}"#,
            #"{"type":"AlbumV1","data":{"id":"3"},"ack":null}"#,
            #"{"type":"AlbumV1","data":{"id":"3"},"ack":{"a":1}}"#,
        ]
        for line in lines { _ = bench.result(line) }
        #expect(bench.projector.lastCheckpoint == nil)
        #expect(
            bench.projector.receivedTokens.tokens == [
                "AlbumV1": "AlbumV1|3", "AlbumV2": "plainer", "AlbumBackfillV1": "AlbumBackfillV1|c|complete",
                "Unheard": "Unheard|1",
            ])
    }

    @Test func `the last type is that of this request's lines, and of those that have one`() {
        var bench = Self.bench()
        #expect(bench.projector.lastType == nil)
        _ = bench.result("<html>")
        #expect(bench.projector.lastType == nil)
        for (line, type) in [
            (#"{"type":"AlbumV2","data":{"id":"1"},"ack":"a|1"}"#, "AlbumV2"), ("<html>", "AlbumV2"),
            (#"{"type":"Unheard","ack":"b|1"}"#, "Unheard"),
        ] {
            _ = bench.result(line)
            #expect(bench.projector.lastType == type)
        }
        bench.projector.beginRequest()
        #expect(bench.projector.lastType == nil)
    }

    @Test func `a namespace that is the beginning of another one is another one`() {
        var bench = Self.bench()
        for token in ["A|1", "AB|2", "A|3", "AB|4", "A|", "|x"] {
            _ = bench.result(#"{"type":"SyncAckV1","ack":"\#(token)"}"#)
        }
        #expect(bench.projector.receivedTokens.tokens == ["A": "A|", "AB": "AB|4", "": "|x"])
    }

    @Test func `namespaces and tokens are bounded`() {
        var bench = Self.bench()
        for number in 0..<2000 { _ = bench.result(#"{"type":"SyncAckV1","ack":"N\#(number)|x"}"#) }
        #expect(bench.projector.receivedTokens.tokens.count == 1024)
        let long = String(repeating: "x", count: 5000)
        _ = bench.result(#"{"type":"SyncAckV1","ack":"N1|\#(long)"}"#)
        #expect(bench.projector.lastCheckpoint == nil)
        #expect(bench.projector.receivedTokens["N1"] == "N1|x")
    }

    @Test func `unknown types are counted by a bounded number of names`() {
        var bench = Self.bench()
        for number in 0..<100 { #expect(bench.result(#"{"type":"X\#(number % 80)","data":1}"#) == .unknownType) }
        let unknown = bench.projector.counters.unknownTypes
        #expect(unknown["X0"] == 2 && unknown["X30"] == 1)
        #expect(unknown.count == 65 && unknown[""] == 16)
    }

    @Test(arguments: [
        ("", QuarantinedLine.Reason.invalidJSON), ("{", .invalidJSON), (#"{"type":"AlbumV1"} x"#, .invalidJSON),
        ("[]", .notAnObject), ("7", .notAnObject), ("{}", .noEnvelope), (#"{"type":7,"data":{}}"#, .noEnvelope),
        (#"{"type":"AlbumV1"}"#, .noEnvelope), (#"{"type":"AlbumV1","data":null}"#, .noEnvelope),
        (#"{"type":"AlbumV1","data":[]}"#, .notARecord), (#"{"type":"AlbumV1","data":"x"}"#, .notARecord),
        (#"{"type":"AlbumV1","data":{}}"#, .noID),
        (
            #"{"type":"AlbumV1","data":"# + String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
                + "}", .tooDeep
        ),
    ])
    func `a line that cannot be a record is quarantined with its reason`(line: String, reason: QuarantinedLine.Reason) {
        var bench = Self.bench()
        let (result, text) = bench.project(line)
        #expect(result.reason == reason)
        #expect(text.isEmpty)
        #expect(bench.projector.quarantined?.reason == reason)
        #expect(bench.projector.counters.quarantined == [reason: 1])
        // The stream goes on.
        #expect(bench.text(#"{"type":"AlbumV1","data":{"id":"1"}}"#) == #"{"id":"1","name":""}"#)
    }

    @Test func `invalid UTF-8 anywhere in a line is told and its token still counts`() {
        var bench = Self.bench()
        let line =
            Array(#"{"type":"AlbumV1","data":{"id":"1","other":""#.utf8) + [0xff]
            + Array(#"","type":"IMAGE"},"ack":"AlbumV1|8"}"#.utf8)
        #expect(bench.project(line).result.reason == .invalidUTF8)
        #expect(bench.projector.quarantined?.type == "AlbumV1")
        #expect(bench.projector.quarantined?.namespace == "AlbumV1")
        #expect(bench.projector.quarantined?.table == "albums")
        #expect(bench.projector.receivedTokens["AlbumV1"] == "AlbumV1|8")
    }

    @Test(arguments: [
        // Two lines in one, two tokens, a token in a text, a token that does not end the line, another namespace.
        #"{"type":"AlbumV1","data":{"id":"1","na{"type":"AlbumV1","data":{},"ack":"AlbumV1|9"}{"ack":"AlbumV1|8"}"#,
        #"{"type":"AlbumV1","data":{"id":"1","na{"type":"AlbumV2","data":{"id":"2"},"ack":"AlbumV2|9"}"#,
        #"{"type":"AlbumV1","data":{x,"ack":"AlbumV1|1"},"ack":"AlbumV1|2"}"#,
        #"{"type":"AlbumV1","data":{"name":"\"ack\":\"AlbumV1|9\"}"#,
        #"{"type":"AlbumV1","ack":"AlbumV1|9","data":{"#,
        #"{"data":{x},"type":"AlbumV1","ack":"AlbumV1|9"}"#,
        #"{"type":"AlbumV1","data":{x},"ack":"AlbumV1|9","more":1}"#,
        #"{"type":"AlbumV1","data":{x},"ack":"AlbumV1|9"}}"#,
    ])
    func `a token that is not certain does not count`(line: String) {
        var bench = Self.bench()
        #expect(bench.result(line).reason == .invalidJSON)
        #expect(bench.projector.receivedTokens.isEmpty)
        #expect(bench.projector.lastCheckpoint == nil)
    }

    @Test func `what is known of a quarantined record is kept`() {
        var bench = ProjectionBench(
            .make("t", upsert: "TV1", columns: []).with(ids: [.init(paths: [Path(name: "a"), Path(name: "b")])]))
        _ = bench.result(#"{"type":"TV1","data":{"a":"x y","b":{}},"ack":"TV1|1"}"#)
        #expect(
            bench.projector.quarantined
                == QuarantinedLine(reason: .unsafeID, type: "TV1", namespace: "TV1", table: "t", id: "x y.{}"))
    }

    @Test func `a line that was too long is known by its ends`() {
        var bench = Self.bench()
        let head = Array(#"{"type":"AlbumV2","data":{"id":"1","name":"xxxx"#.utf8)
        let tail = Array(#"xxxxx"},"ack":"AlbumV2|77"}"#.utf8)
        let result = head.withUnsafeBytes { head in
            tail.withUnsafeBytes { bench.projector.projectTooLong(head: head, tail: $0) }
        }
        #expect(result.reason == .tooLong)
        #expect(bench.projector.quarantined?.type == "AlbumV2")
        #expect(bench.projector.lastCheckpoint == Checkpoint(namespace: "AlbumV2", token: "AlbumV2|77"))
    }

    @Test func `a byte order mark before a line is skipped`() {
        var bench = Self.bench()
        #expect(bench.text("\u{feff}" + #"{"type":"AlbumV1","data":{"id":"1"}}"#) == #"{"id":"1","name":""}"#)
    }

    @Test func `the transcript of a first stream comes out as it should`() {
        let link = Table.make("album_assets", upsert: "AlbumToAssetV1", "AlbumToAssetBackfillV1", columns: [])
            .with(ids: [.init(paths: [Path(name: "albumId"), Path(name: "assetId")])])
        var bench = ProjectionBench(
            .make("albums", upsert: "AlbumV2", columns: []).with(deletes: [
                .init(type: "AlbumDeleteV1", target: .by([Path(name: "albumId")], all: false))
            ]),
            link)
        let lines = [
            #"{"type":"AuthUserV1","data":{"id":"U"},"ack":"AuthUserV1|019ad8ec"}"#,
            #"{"type":"SyncAckV1","data":{},"ack":"AlbumAssetUpdateV2|019adb7b"}"#,
            #"{"type":"AlbumV2","data":{"id":"A"},"ack":"AlbumV2|01994f98-d292"}"#,
            #"{"type":"AlbumToAssetV1","data":{"assetId":"S","albumId":"A"},"ack":"AlbumToAssetV1|01994f98-b16c"}"#,
            #"{"type":"AlbumToAssetBackfillV1","data":{"assetId":"T","albumId":"A"},"ack":"AlbumToAssetBackfillV1|c"}"#,
            #"{"type":"SyncAckV1","data":{},"ack":"AlbumToAssetBackfillV1|c|complete"}"#,
            #"{"type":"AlbumDeleteV1","data":{"albumId":"B"},"ack":"AlbumDeleteV1|7"}"#,
            #"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|019adb7b"}"#,
        ]
        let texts = lines.map { bench.text($0) }
        #expect(texts == ["", "", #"{"id":"A"}"#, #"{"id":"A.S"}"#, #"{"id":"A.T"}"#, "", #""B""#, ""])
        #expect(
            bench.projector.receivedTokens.tokens == [
                "AuthUserV1": "AuthUserV1|019ad8ec", "AlbumAssetUpdateV2": "AlbumAssetUpdateV2|019adb7b",
                "AlbumV2": "AlbumV2|01994f98-d292", "AlbumToAssetV1": "AlbumToAssetV1|01994f98-b16c",
                "AlbumToAssetBackfillV1": "AlbumToAssetBackfillV1|c|complete", "AlbumDeleteV1": "AlbumDeleteV1|7",
                "SyncCompleteV1": "SyncCompleteV1|019adb7b",
            ])
    }
}
