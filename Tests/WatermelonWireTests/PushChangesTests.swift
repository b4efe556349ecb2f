// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel
import Testing
import WatermelonWire

@Suite struct PushChangesTests {
    private func changes(_ body: String) throws -> PushChanges {
        try #require(try read("POST", "/sync/push", body: body)?.push).changes
    }

    @Test func `a record is read from the bytes of the body`() throws {
        let changes = try changes(
            "\u{feff} " + #"{"changes":{"t":{"created":[ {"id":"x", "name":"ü\n", "n":1.0} ],"deleted":["d"]}}}"#
        )
        let record = try #require(changes.tables.first?.created.first)
        #expect(record.id == "x")
        #expect(changes.value(of: record)["name"]?.string == "ü\n")
        var names: [String] = []
        let number = try changes.withScanner(of: record) { (scanner) throws(JSONError) -> String? in
            var number: String?
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                names.append(name.string ?? "")
                let value = try scanner.value()
                if name.equals("n") { number = value.spelling }
            }
            try scanner.finish()
            return number
        }
        #expect(names == ["id", "name", "n"])
        #expect(number == "1.0")
    }

    @Test func `records inside of a JSON string are read from what it contained`() throws {
        let changes = try changes(#"{"changes":"{\"t\":{\"updated\":[{\"id\":\"x\",\"name\":\"\\u00fc\"}]}}"}"#)
        let record = try #require(changes.tables.first?.updated.first)
        #expect(changes.value(of: record)["name"]?.string == "ü")
    }

    @Test(arguments: [
        ("", ""), ("a b", "a b"), ("../x", "../x"), ("☃", "☃"), (#"\u0000"#, "\0"), (#"\""#, "\""),
        (#"\ud83d\ude00"#, "😀"), (#"\ufffd"#, "\u{fffd}"),
    ])
    func `any text is an id here`(spelling: String, id: String) throws {
        let changes = try changes(#"{"changes":{"t":{"created":[{"id":"\#(spelling)"}]}}}"#)
        #expect(changes.tables.first?.created.map(\.id) == [id])
    }

    @Test func `ids that only look equal are two`() throws {
        let changes = try changes("{\"changes\":{\"t\":{\"deleted\":[\"\u{e9}\",\"e\u{301}\"]}}}")
        #expect(changes.recordCount == 2)
    }

    @Test func `one id in two tables is fine`() throws {
        let changes = try changes(#"{"changes":{"t":{"deleted":["x"]},"u":{"deleted":["x"]}}}"#)
        #expect(changes.recordCount == 2)
    }

    @Test func `a deletion is an id, or a record with one`() throws {
        let changes = try changes(
            #"{"changes":{"t":{"deleted":["a",{"id":"b"},{"_status":"deleted","name":"x","id":"c"},"d"]}}}"#)
        #expect(changes.tables.first?.deleted == ["a", "b", "c", "d"])
    }

    @Test func `of an id that repeats in its record the last counts`() throws {
        let changes = try changes(#"{"changes":{"t":{"created":[{"id":"a","id":"b"}]}}}"#)
        #expect(changes.tables.first?.created.map(\.id) == ["b"])
    }
}
