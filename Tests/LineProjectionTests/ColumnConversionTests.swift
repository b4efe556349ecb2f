// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel
import Testing

@Suite struct ColumnConversionTests {
    /// What a column of a type makes of a value; nil for the value is a member that is not there.
    static func convert(_ json: String?, _ type: ColumnType, optional: Bool) -> (text: String, wrong: Int, missing: Int)
    {
        var bench = ProjectionBench(
            .make("t", upsert: "TV1", columns: [.make("c", type, optional: optional)]))
        let data = json.map { #"{"id":"x","c":\#($0)}"# } ?? #"{"id":"x"}"#
        let text = bench.text(#"{"type":"TV1","data":\#(data),"ack":"TV1|1"}"#)
        let counters = bench.projector.counters
        let prefix = #"{"id":"x","c":"#
        #expect(text.hasPrefix(prefix) && text.hasSuffix("}"))
        return (
            String(text.dropFirst(prefix.count).dropLast()), counters.defaults.wrong, counters.defaults.missing
        )
    }

    static let defaults: [ColumnType: String] = [
        .string: #""""#, .json: #""""#, .number: "0", .timestamp: "0", .boolean: "false",
    ]

    @Test(
        arguments: [
            (.string, #""a\nb é""#, #""a\nb é""#), (.string, #""""#, #""""#), (.string, #""\ud800x""#, "\"\u{fffd}x\""),
            (.string, #""\u0000""#, #""\u0000""#),
            (.number, "1", "1"), (.number, "-1.50e3", "-1.50e3"), (.number, "-0", "0"), (.number, "-0.0", "0"),
            (.number, "1e-400", "1e-400"), (.number, #""1""#, "1"), (.number, "true", "1"),
            (.string, "1", #""1""#), (.string, "true", #""true""#), (.boolean, #""true""#, "true"),
            (.boolean, "true", "true"), (.boolean, "false", "false"), (.boolean, "1", "true"), (.boolean, "0", "false"),
            (.boolean, "1.0", "true"), (.boolean, "-0", "false"),
            (.timestamp, #""2026-01-02T03:04:05.678Z""#, "1767323045678"),
            (.timestamp, #""2026-01-02""#, "1767312000000"),
            (.timestamp, #""2026\u002d01-02""#, "1767312000000"), (.timestamp, "1767323045678", "1767323045678"),
            (.timestamp, "-1.9", "-1"), (.timestamp, "-0", "0"), (.timestamp, "1.5e3", "1500"),
            (.json, #"{ "a" : [1, "x y"] }"#, #""{\"a\":[1,\"x y\"]}""#), (.json, "[]", #""[]""#),
            (.json, "1.50", #""1.50""#),
            (.json, "true", #""true""#), (.json, #""x\n""#, #""\"x\\n\"""#),
        ] as [(ColumnType, String, String)])
    func `a value that fits is converted`(type: ColumnType, json: String, expected: String) {
        for optional in [true, false] {
            let result = Self.convert(json, type, optional: optional)
            #expect(result == (expected, 0, 0))
        }
    }

    @Test(
        arguments: [
            (.string, "{}"), (.string, "[]"), (.number, "12345678901234567890"), (.number, "{}"), (.number, "[1]"),
            (.number, "1e400"),
            (.number, "-1e400"),
            (.boolean, "2"), (.boolean, #""maybe""#), (.boolean, "{}"), (.boolean, "[]"), (.boolean, "0.5"),
            (.boolean, "1e400"),
            (.timestamp, #""yesterday""#), (.timestamp, "true"), (.timestamp, "{}"), (.timestamp, "[]"),
            (.timestamp, "1e400"),
            (.timestamp, "9e15"), (.timestamp, #""""#),
        ] as [(ColumnType, String)])
    func `a value of the wrong type becomes the default and is counted`(type: ColumnType, json: String) {
        #expect(Self.convert(json, type, optional: true) == ("null", 1, 0))
        #expect(Self.convert(json, type, optional: false) == (Self.defaults[type] ?? "?", 1, 0))
    }

    @Test(arguments: ColumnType.allCases)
    func `null and no value become the default, which counts as missing only where it is required`(type: ColumnType) {
        for json in ["null", nil] {
            #expect(Self.convert(json, type, optional: true) == ("null", 0, 0))
            #expect(Self.convert(json, type, optional: false) == (Self.defaults[type] ?? "?", 0, 1))
        }
    }

    @Test func `values of the backend's choice are not applied on the way to the client`() {
        var column = Column.make("order", .string)
        column.oneOf = .init(allowed: ["asc", "desc"], fallback: "asc")
        var bench = ProjectionBench(.make("t", upsert: "TV1", columns: [column]))
        #expect(
            bench.text(#"{"type":"TV1","data":{"id":"x","order":"sideways"},"ack":"TV1|1"}"#)
                == #"{"id":"x","order":"sideways"}"#)
    }

    @Test func `json text is copied whole and stays JSON inside`() throws {
        let value = #"{"é\ud83d\ude00":"a\"b\\","n":-0.0,"deep":[[[ ]]]}"#
        let text = Self.convert(value, .json, optional: false).text
        let inner = try JSONValue.parse(text).string ?? ""
        #expect(try JSONValue.parse(inner) == (try JSONValue.parse(value)))
    }
}
