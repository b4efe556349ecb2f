// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import Testing

@Suite struct JSONValueTests {
    @Test func `a document becomes a tree`() throws {
        let value = try JSONValue.parse(#"{"a":[1,2.50,"x\n",null,true],"b":{"c":-0}}"#)
        #expect(value["a"]?[0]?.int64 == 1)
        #expect(value["a"]?[1]?.number?.spelling == "2.50")
        #expect(value["a"]?[1]?.double == 2.5)
        #expect(value["a"]?[2]?.string == "x\n")
        #expect(value["a"]?[3]?.isNull == true)
        #expect(value["a"]?[4]?.bool == true)
        #expect(value["a"]?[5] == nil)
        #expect(value["b"]?["c"]?.int64 == 0)
        #expect(value["x"] == nil)
        #expect(value.kind == .object)
    }

    @Test func `the last of equal names counts, at the place of the first`() throws {
        let value = try JSONValue.parse(#"{"a":1,"b":2,"\u0061":3}"#)
        #expect(value.serialised == Array(#"{"a":3,"b":2}"#.utf8))
    }

    @Test(arguments: [1, 15, 16, 17, 100])
    func `equal names are found among few members and among many`(count: Int) throws {
        let once = (0..<count).map { "\"n\($0)\":\($0)" }
        let again = (0..<count).map { "\"n\(count - 1 - $0)\":\(1_000 + $0)" }
        let members = try #require(JSONValue.parse("{" + (once + again).joined(separator: ",") + "}").members)
        #expect(members.map(\.name) == (0..<count).map { "n\($0)" })
        #expect(members.map(\.value.int64) == (0..<count).map { Int64(1_000 + count - 1 - $0) })
    }

    @Test func `names in different normal forms are different names`() throws {
        let value = try JSONValue.parse("{\"\u{e9}\":1,\"e\u{301}\":2}")
        #expect(value.members?.count == 2)
        #expect(value["\u{e9}"]?.int64 == 1)
        #expect(value["e\u{301}"]?.int64 == 2)
        #expect(JSONValue.string("\u{e9}") != JSONValue.string("e\u{301}"))
    }

    @Test(arguments: [
        (#"{"b":1.0,"a":[1e2,-0,-0.0,1E400]}"#, #"{"a":[100,0,0,1E400],"b":1}"#), (#"["\u0041\/"]"#, #"["A/"]"#),
        (#"{"a":1,"a":2}"#, #"{"a":2}"#), ("9007199254740993", "9007199254740992"),
        (#"{"é":1,"z":2}"#, #"{"z":2,"é":1}"#),
        (" [ ] ", "[]"),
    ])
    func `documents of the same meaning have one canonical spelling`(json: String, canonical: String) throws {
        let value = try JSONValue.parse(json)
        #expect(String(decoding: value.canonical, as: UTF8.self) == canonical)
        #expect(try JSONValue.parse(value.canonical).canonical == value.canonical)
    }

    @Test func `limits are held`() throws {
        let limits = JSONValue.Limits(bytes: 10, depth: 2, elements: 3)
        #expect(throws: JSONError(.tooLarge, at: 10)) { try JSONValue.parse("[         ]", limits: limits) }
        #expect(throws: JSONError(.tooDeep, at: 2)) { try JSONValue.parse("[[[]]]", limits: limits) }
        #expect(throws: JSONError(.tooManyElements, at: 5)) { try JSONValue.parse("[1,2,3]", limits: limits) }
        #expect(try JSONValue.parse("[1,2]", limits: limits).array?.count == 2)
        #expect(JSONValue.Limits(depth: 100_000).depth == 512)
    }

    @Test func `the deepest allowed tree is built, compared and written`() throws {
        let text = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        let value = try JSONValue.parse(text, limits: .init(depth: 4096))
        #expect(value == value)
        #expect(value.canonical == Array(text.utf8))
        #expect(throws: JSONError(.tooDeep, at: 512)) {
            try JSONValue.parse("[" + text + "]", limits: .init(depth: 4096))
        }
    }

    @Test(arguments: [
        ("1", true), ("-1.5e3", true), ("01", false), ("1 ", false), ("x", false), ("", false), ("\"1\"", false),
    ])
    func `a number is made of JSON's spellings only`(spelling: String, isNumber: Bool) {
        #expect((JSONNumber(spelling: spelling) != nil) == isNumber)
    }

    @Test func `what is not finite is no number`() {
        #expect(JSONNumber(Double.nan) == nil)
        #expect(JSONNumber(1.5)?.spelling == "1.5")
        #expect(JSONNumber(-3).int64 == -3)
        #expect(JSONValue.integer(7).serialised == Array("7".utf8))
    }
}
