// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel
import Testing
import WatermelonWire

@Suite struct AnswerWriterTests {
    private func answer(_ dialect: WireDialect, strategy: AnswerWriter.Strategy = .incremental) throws -> String {
        let writer = AnswerWriter(dialect: dialect)
        var bytes = writer.opening
        for (index, table) in ["tasks", "a \"b\""].enumerated() {
            bytes += writer.tableOpening(table, isFirst: index == 0)
            bytes += Array(#"{"id":"x"}"#.utf8) + AnswerWriter.separator + Array(#"{"id":"y"}"#.utf8)
            bytes += AnswerWriter.updatedOpening + AnswerWriter.deletedOpening
            bytes += Array(#""z""#.utf8) + AnswerWriter.tableClosing
        }
        bytes += writer.closing(cursor: try #require(Cursor(rawValue: 1_700_000_000_123)), strategy: strategy)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let tables = #"""
        {"tasks":{"created":[{"id":"x"},{"id":"y"}],"updated":[],"deleted":["z"]},\#
        "a \"b\"":{"created":[{"id":"x"},{"id":"y"}],"updated":[],"deleted":["z"]}}
        """#

    @Test func `the pieces of a pull answer make one`() throws {
        #expect(try answer(WireDialect()) == #"{"changes":\#(Self.tables),"timestamp":1700000000123}"#)
    }

    @Test func `an answer without tables is one`() throws {
        let writer = AnswerWriter(dialect: WireDialect())
        let bytes = writer.opening + writer.closing(cursor: try #require(Cursor(rawValue: 7)))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"changes":{},"timestamp":7}"#)
    }

    @Test func `names and wrapping are configured`() throws {
        var dialect = WireDialect()
        dialect.timestampName = "latestVersion"
        dialect.wrap = ["result", "data"]
        let expected =
            #"{"result":{"data":{"changes":\#(Self.tables),"latestVersion":1700000000123,"#
            + #""experimentalStrategy":"replacement"}}}"#
        #expect(try answer(dialect, strategy: .replacement) == expected)
        #expect(
            String(decoding: AnswerWriter(dialect: dialect).pushAnswer(), as: UTF8.self) == #"{"result":{"data":{}}}"#)
    }

    @Test func `some tables alone are replaced, the others are not`() throws {
        let text = try answer(WireDialect(), strategy: .replacementOf(["tags", "notes"]))
        let expected =
            #""experimentalStrategy":{"default":"incremental","override":{"tags":"replacement","notes":"replacement"}}}"#
        #expect(text.hasSuffix(expected))
        let strategy = AnswerWriter.Strategy.replacementOf(["tags"])
        #expect(strategy.replaces("tags") && !strategy.replaces("tasks"))
        #expect(
            AnswerWriter.Strategy.replacement.replaces("tasks") && !AnswerWriter.Strategy.incremental.replaces("tasks"))
    }

    @Test func `a push is answered with the ids that were rejected`() {
        let writer = AnswerWriter(dialect: WireDialect())
        #expect(writer.pushAnswer() == Array("{}".utf8))
        let rejected = [RecordList(table: "tasks", ids: ["a", "b\n"]), RecordList(table: "tags", ids: [])]
        let expected = #"{"experimentalRejectedIds":{"tasks":["a","b\n"],"tags":[]}}"#
        #expect(String(decoding: writer.pushAnswer(rejected: rejected), as: UTF8.self) == expected)
    }

    private let conflict = ErrorAnswer(
        status: 409, code: "push.conflict", message: "Somebody else changed this in the meantime.", requestID: "r-1",
        details: .conflicts([
            RecordList(table: "tasks", ids: ["a", "b\"\n"]), RecordList(table: "tags", ids: ["c", "d", "e", "f"]),
        ]))

    @Test(arguments: [
        nil, "*/*", "text/html, */*;q=0.8", "application/*", "application/json;q=0", "application/json; q=0.0",
    ])
    func `an error is one sentence with the request's id at its end`(accept: String?) {
        let (type, bytes) = ErrorAnswer(status: 503, code: "x.y", message: "Try again soon.", requestID: "r-1")
            .body(accept: accept)
        #expect(type == "text/plain; charset=utf-8")
        #expect(String(decoding: bytes, as: UTF8.self) == "Try again soon (r-1)")
    }

    @Test(arguments: [
        "application/json", "application/json, text/plain, */*", "text/plain, Application/JSON ;q=0.001",
        "a/b,application/json;v=1",
    ])
    func `a client that names JSON gets the code and the details`(accept: String) throws {
        let (type, bytes) = conflict.body(accept: accept)
        #expect(type == "application/json; charset=utf-8")
        let expected =
            #"{"error":{"code":"push.conflict","message":"Somebody else changed this in the meantime.","#
            + #""request_id":"r-1","#
            + #""details":{"conflicts":{"tasks":["a","b\"\n"],"tags":["c","d","e","f"]}}}}"#
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
        #expect(try JSONValue.parse(bytes)["error"]?["code"]?.string == "push.conflict")
    }

    @Test func `records of an error that is no conflict are called records`() throws {
        var answer = conflict
        answer.details = .records([RecordList(table: "tasks", ids: ["a"])])
        let json = try JSONValue.parse(answer.body(accept: "application/json").bytes)["error"]?["details"]
        #expect(json.map { String(decoding: $0.serialised, as: UTF8.self) } == #"{"records":{"tasks":["a"]}}"#)
        #expect(String(decoding: answer.body(accept: nil).bytes, as: UTF8.self).hasSuffix("tasks a (r-1)"))
    }

    @Test func `the details of a conflict tell what the backend has of its records`() throws {
        var answer = conflict
        answer.details = .conflicts(
            [RecordList(table: "tasks", ids: ["a", "b\"", "c"]), RecordList(table: "tags", ids: ["d"])],
            present: [
                PresentRecord(table: "tasks", id: "a", json: Array(#"{"id":"a","n":1}"#.utf8)),
                PresentRecord(table: "tags", id: "d", json: nil),
                PresentRecord(table: "tasks", id: "b\"", json: Array("{}".utf8)),
            ])
        let details = try JSONValue.parse(answer.body(accept: "application/json").bytes)["error"]?["details"]
        #expect(
            details?["present"].map { String(decoding: $0.serialised, as: UTF8.self) }
                == #"{"tasks":{"a":{"id":"a","n":1},"b\"":{}},"tags":{"d":null}}"#)
        #expect(String(decoding: answer.body(accept: nil).bytes, as: UTF8.self).hasSuffix("tags d (r-1)"))
    }

    @Test func `the sentence of a conflict names a few of the records`() {
        let expected = #"Somebody else changed this in the meantime: tasks a, b"; tags c, d, e … (r-1)"#
        #expect(String(decoding: conflict.body(accept: nil).bytes, as: UTF8.self) == expected)
    }

    @Test func `an error of reading becomes its answer`() throws {
        let error = try #require(throws: WireError.self) { try read("GET", "/sync?last_pulled_at=NaN") }
        let answer = ErrorAnswer(error, requestID: "r-1")
        #expect(answer.status == 400 && answer.code == "request.last_pulled_at" && answer.details == nil)
        #expect(ErrorAnswer.codeField == "Rind-Error")
    }

    @Test func `names from outside are cut and cleaned in sentences`() throws {
        let name = "a\u{1b}[31m\u{202e}\n" + String(repeating: "é", count: 200)
        let escaped = name.unicodeScalars.map {
            $0.value < 32 ? "\\u00\($0.value < 16 ? "0" : "1")\(String($0.value % 16, radix: 16))" : String($0)
        }
        .joined()
        let error = try #require(throws: WireError.self) {
            try read("POST", "/sync/push", body: "{\"changes\":{\"\(escaped)\":[]}}")
        }
        #expect(error.message.count < 120)
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202e })
    }
}
