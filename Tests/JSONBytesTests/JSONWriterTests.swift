// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes
import Testing

@Suite struct JSONWriterTests {
    @Test(arguments: [
        ("", #""""#), ("a\"b\\c/", #""a\"b\\c/""#),
        ("\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}", "\"\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}\""),
        ("Größe 😀\u{2028}", "\"Größe 😀\u{2028}\""),
    ])
    func `strings get the escapes that they need and no others`(text: String, json: String) {
        #expect(written { $0.append(string: text) } == json)
    }

    @Test(
        arguments: [
            ([0x61, 0xff, 0x62], "\"a\u{fffd}b\""), ([0xed, 0xa0, 0x80], "\"\u{fffd}\u{fffd}\u{fffd}\""),
            ([0xc3], "\"\u{fffd}\""),
            ([0xc3, 0xa9], "\"é\""),
        ] as [([UInt8], String)])
    func `bytes that are not UTF-8 are repaired`(bytes: [UInt8], json: String) {
        #expect(written { writer in bytes.withUnsafeBytes { writer.append(stringUTF8: $0) } } == json)
    }

    @Test(arguments: [
        (#""a\ud800b\n\u00e9""#, "\"a\u{fffd}b\\n\\u00e9\""), (#""\ud83d\ude00\udc00""#, "\"\\ud83d\\ude00\u{fffd}\""),
        (#""a\/\u0041""#, #""a\/\u0041""#),
    ])
    func `scanned strings are copied as they are spelled and lone surrogates repaired`(json: String, copy: String)
        throws
    {
        try withSlice(json) { slice in #expect(written { $0.append(stringSlice: slice) } == copy) }
    }

    @Test(
        arguments: [
            (0, "0"), (-0.0, "0"), (1, "1"), (-1.5, "-1.5"), (0.1, "0.1"), (1e16, "1e+16"), (1e21, "1e+21"),
            (Double.leastNonzeroMagnitude, "5e-324"),
            (9_007_199_254_740_992, "9007199254740992"), (.infinity, "null"), (-.infinity, "null"), (.nan, "null"),
            (123456.75, "123456.75"), (1e-7, "1e-07"),
        ] as [(Double, String)])
    func `doubles are short, finite and read back the same`(value: Double, json: String) throws {
        let text = written { $0.append(value) }
        #expect(text == json)
        if value.isFinite { try withSlice(text) { #expect($0.double == value) } }
    }

    @Test func `random doubles read back the same`() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else { continue }
            try withSlice(written { $0.append(value) }) { #expect($0.double == value) }
        }
    }

    @Test func `integers of every length are decimal`() {
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            for value in [power - 1, power, power + 1, power / 7 * 9] {
                #expect(written { $0.append(value) } == String(value))
                #expect(written { $0.append(-value) } == String(-value))
            }
        }
    }

    @Test(arguments: [0, 1, -1, 10, -10, 1_234_567_890, Int64.max, Int64.min])
    func `integers are decimal`(value: Int64) {
        #expect(written { $0.append(value) } == String(value))
    }

    @Test(arguments: [
        ("{ \"a b\" : [ 1 , true ,\tnull ] }", #"{"a b":[1,true,null]}"#), (#"" x ""#, #"" x ""#), ("1.50", "1.50"),
        (#"{"a":"\"\\ \n"}"#, #"{"a":"\"\\ \n"}"#), ("[ ]", "[]"), (#"["\\", " ] "]"#, #"["\\"," ] "]"#),
        ("[\"é \\ud800\"]", "[\"é \\ud800\"]"),
    ])
    func `a value becomes JSON text in a string without its white space`(json: String, text: String) throws {
        try withSlice(json) { slice in
            let string = written { $0.append(jsonTextOf: slice) }
            try withSlice(string) { #expect($0.string == text) }
        }
    }

    @Test func `what was written can be cut off again`() {
        var writer = JSONWriter()
        writer.append(raw: "[")
        let mark = writer.count
        writer.append(name: "a\"")
        writer.append(true)
        writer.truncate(to: mark)
        writer.appendNull()
        writer.append(byte: UInt8(ascii: "]"))
        #expect(writer.bytes == Array("[null]".utf8))
        writer.removeAll()
        #expect(writer.bytes.isEmpty)
    }
}
