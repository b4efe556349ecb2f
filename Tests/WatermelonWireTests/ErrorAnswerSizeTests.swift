// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel
import Testing
import WatermelonWire

/// However much a request says, an error repeats little of it.
@Suite struct ErrorAnswerSizeTests {
    private func body(_ lists: [RecordList], message: String = "No.") throws -> (text: Int, json: JSONValue, size: Int)
    {
        let answer = ErrorAnswer(
            status: 400, code: "request.record_id", message: message, requestID: "id", details: .conflicts(lists))
        let json = answer.body(accept: "application/json").bytes
        return (answer.body(accept: nil).bytes.count, try JSONValue.parse(json), json.count)
    }

    private let long = String(repeating: "x", count: 1 << 20)

    @Test func `an id or a table of a megabyte is cut to 200 bytes`() throws {
        let body = try body([RecordList(table: long, ids: [long, "a"])], message: long)
        #expect(body.text < 2_000 && body.size < 3_000)
        let list = try #require(body.json["error"]?["details"]?["conflicts"]?.members?.first)
        #expect(list.name.utf8.count == 203)
        #expect(list.value.array?.compactMap(\.string).map(\.utf8.count) == [203, 1])
    }

    @Test func `ids that may be real stay whole`() throws {
        let id = String(repeating: "i", count: RecordID.maximumLength)
        let body = try body([RecordList(table: "tasks", ids: [id])])
        #expect(body.json["error"]?["details"]?["conflicts"]?["tasks"]?.array?.first?.string == id)
        #expect(body.json["error"]?["details"]?["more"] == nil)
    }

    @Test func `an error names as many records as fit, and counts the others`() throws {
        let ids = (0..<100_000).map { "record-\($0)" }
        let body = try body([RecordList(table: "a", ids: ids), RecordList(table: "b", ids: ids)])
        #expect(body.size < 300_000)
        let details = try #require(body.json["error"]?["details"])
        let named = details["conflicts"]?["a"]?.array?.count ?? 0
        #expect(named > 10_000 && details["more"]?.int64 == Int64(200_000 - named))
    }
}
