// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import Testing

@Suite struct JSONScannerTests {
    @Test(arguments: [
        ("", JSONError.Code.empty, 0),
        (" \n\t", .empty, 3),
        ("[", .unexpectedEnd, 1),
        ("{\"a\"", .unexpectedEnd, 4),
        ("\"abc", .unexpectedEnd, 4),
        ("\"abc\\", .unexpectedEnd, 5),
        ("\"\\u12", .unexpectedEnd, 5),
        ("tru", .unexpectedEnd, 3),
        ("-", .unexpectedEnd, 1),
        ("1.", .unexpectedEnd, 2),
        ("nul1", .unexpectedByte, 3),
        ("True", .unexpectedByte, 0),
        ("[1,]", .unexpectedByte, 3),
        ("[,1]", .unexpectedByte, 1),
        ("[1 2]", .unexpectedByte, 3),
        ("[1}", .unexpectedByte, 2),
        ("{\"a\":1,}", .unexpectedByte, 7),
        ("{a:1}", .unexpectedByte, 1),
        ("{\"a\" 1}", .unexpectedByte, 5),
        ("{\"a\":}", .unexpectedByte, 5),
        ("[\u{a0}1]", .unexpectedByte, 1),
        ("\u{feff}{}", .unexpectedByte, 0),
        ("[1]x", .trailingText, 3),
        ("1 2", .trailingText, 2),
        ("{}{}", .trailingText, 2),
        ("\"a\nb\"", .controlCharacter, 2),
        ("\"12345678\u{0}\"", .controlCharacter, 9),
        ("\"\\x\"", .invalidEscape, 1),
        ("\"ab\\u12g4\"", .invalidEscape, 3),
        ("[01]", .invalidNumber, 1),
        ("[1.]", .invalidNumber, 1),
        ("[.5]", .unexpectedByte, 1),
        ("[1e]", .invalidNumber, 1),
        ("[-a]", .invalidNumber, 1),
        ("[+1]", .unexpectedByte, 1),
        ("-01", .invalidNumber, 0),
    ])
    func `what is not JSON is refused with a code and the place`(text: String, code: JSONError.Code, offset: Int) {
        #expect(outcome(of: text) == JSONError(code, at: offset))
    }

    @Test(arguments: [
        "null", " true ", "\t[ ]\r\n", "{ }", "[[],{},[{}]]", #"{"a":{"b":[1,{"c":null}]},"d":[]}"#, "0", "-0",
        "-0.0e-0",
        "1E+2", "0.25", "\"\"", #""\"\\\/\b\f\n\r\t\u0000\uD83D\uDE00""#, "\"\u{7f}\"", #"{"":""}"#, "1e400",
        "123456789012345678901234567890",
    ])
    func `what is JSON is accepted`(text: String) {
        #expect(outcome(of: text) == nil)
    }

    @Test(
        arguments: [
            ([0xc3, 0xa9], true), ([0xe2, 0x82, 0xac], true), ([0xf0, 0x9f, 0x98, 0x80], true),
            ([0xed, 0x9f, 0xbf], true),
            ([0xee, 0x80, 0x80], true), ([0xf4, 0x8f, 0xbf, 0xbf], true), ([0xe0, 0xa0, 0x80], true),
            ([0xf0, 0x90, 0x80, 0x80], true), ([0xc2, 0x80], true), ([0xdf, 0xbf], true),
            ([0x80], false), ([0xc0, 0x80], false), ([0xc1, 0xbf], false), ([0xc3], false), ([0xc3, 0x41], false),
            ([0xe0, 0x9f, 0xbf], false), ([0xed, 0xa0, 0x80], false), ([0xe2, 0x82], false),
            ([0xf0, 0x8f, 0xbf, 0xbf], false),
            ([0xf4, 0x90, 0x80, 0x80], false), ([0xf5, 0x80, 0x80, 0x80], false), ([0xff], false),
            ([0xf0, 0x9f, 0x98], false), ([0xe2, 0x28, 0xa1], false),
        ] as [([UInt8], Bool)])
    func `strings are UTF-8 by the table of RFC 3629, wherever in a word they stand`(sequence: [UInt8], isValid: Bool) {
        for padding in 0..<18 {
            let text = Array(repeating: UInt8(ascii: "x"), count: padding)
            let quote = UInt8(ascii: "\"")
            let expected = isValid ? nil : JSONError(.invalidUTF8, at: padding + 1)
            #expect(outcome(of: [quote] + text + sequence + [quote]) == expected)
            #expect(outcome(of: [quote] + text + sequence + text + [quote]) == expected)
        }
    }

    @Test func `every special byte is seen at every place of a long string`() {
        for length in 0..<40 {
            for place in 0...length {
                var text = Array(repeating: UInt8(ascii: "a"), count: length)
                for special in [0x00, 0x1f, 0x22, 0x5c, 0x80, 0xff] as [UInt8] {
                    text.insert(special, at: place)
                    let quoted = [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
                    #expect(outcome(of: quoted) != nil, "\(special) at \(place) of \(length)")
                    text.remove(at: place)
                }
                for harmless in [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f] as [UInt8] {
                    text.insert(harmless, at: place)
                    let quoted = [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
                    #expect(outcome(of: quoted) == nil, "\(harmless) at \(place) of \(length)")
                    text.remove(at: place)
                }
            }
        }
    }

    @Test(arguments: [1, 2, 63, 64, 65, 127, 128, 129, 200, 4096])
    func `nesting is allowed up to the limit and not beyond`(depth: Int) {
        for (opening, closing) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = opening == "[" ? "" : "1"
            func nested(_ count: Int) -> String {
                String(repeating: opening, count: count) + inner + String(repeating: closing, count: count)
            }
            #expect(outcome(of: nested(depth), depth: depth) == nil)
            let offset = depth * opening.utf8.count
            let tooDeep = opening == "[" ? nested(depth + 1) : nested(depth).replacingInner(opening, depth)
            #expect(outcome(of: tooDeep, depth: depth) == JSONError(.tooDeep, at: offset))
        }
    }

    @Test func `mixed nesting beyond a word of bits closes in the right order`() {
        var opening = ""
        var closing = ""
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let isObject = Bool.random(using: &generator)
            opening += isObject ? "{\"k\":" : "["
            closing = (isObject ? "}" : "]") + closing
        }
        #expect(outcome(of: opening + "1" + closing, depth: 300) == nil)
        for index in closing.indices {
            var wrong = closing
            wrong.replaceSubrange(index...index, with: closing[index] == "}" ? "]" : "}")
            #expect(outcome(of: opening + "1" + wrong, depth: 300)?.code == .unexpectedByte)
        }
    }

    @Test func `members are read one by one with what they are`() throws {
        let text = #" { "a" : 1 , "b\u0063" : "x\n" , "c" : [1, {"d": 2}] , "e" : { } , "f" : true } "#
        try Array(text.utf8).withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            var seen: [String] = []
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                let value = try scanner.value()
                seen.append("\(name.string ?? "?")=\(value.kind):\(value.spelling):\(value.hasEscapes)")
            }
            try scanner.finish()
            #expect(
                seen == [
                    "a=number:1:false", #"bc=string:"x\n":true"#, #"c=array:[1, {"d": 2}]:false"#, "e=object:{ }:false",
                    "f=boolean:true:false",
                ])
        }
    }

    @Test func `containers can be entered one in another`() throws {
        let text = #"{"a":[[],[1,2],{}],"b":{"c":{}},"d":3}"#
        try Array(text.utf8).withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            var seen: [String] = []
            func walk(_ path: String) throws {
                switch try scanner.peekKind() {
                case .object:
                    try scanner.beginObject()
                    while let name = try scanner.nextMember() { try walk(path + "." + (name.string ?? "?")) }
                    seen.append(path + "{}")
                case .array:
                    try scanner.beginArray()
                    var index = 0
                    while try scanner.nextElement() {
                        try walk(path + ".\(index)")
                        index += 1
                    }
                    seen.append(path + "[]")
                default: seen.append(path + "=" + (try scanner.value().spelling))
                }
            }
            try walk("")
            try scanner.finish()
            #expect(
                seen == [".a.0[]", ".a.1.0=1", ".a.1.1=2", ".a.1[]", ".a.2{}", ".a[]", ".b.c{}", ".b{}", ".d=3", "{}"])
        }
    }

    @Test(arguments: ["{,}", #"{"a":1 "b":2}"#, #"{"a":1,,"b":2}"#, #"{"a"}"#, #"{"a":1"#, #"{"a":1]"#, "{1:2}", "[1"])
    func `reading member by member refuses what validation refuses`(text: String) {
        #expect(throws: JSONError.self) {
            try Array(text.utf8).withUnsafeBytes { bytes in
                var scanner = JSONScanner(bytes)
                if try scanner.peekKind() == .array {
                    try scanner.beginArray()
                    while try scanner.nextElement() { _ = try scanner.value() }
                } else {
                    try scanner.beginObject()
                    while try scanner.nextMember() != nil { _ = try scanner.value() }
                }
                try scanner.finish()
            }
        }
    }

    @Test func `a byte order mark is told but not skipped`() {
        let marked: [UInt8] = [0xef, 0xbb, 0xbf] + Array("{}".utf8)
        #expect(marked.withUnsafeBytes { JSONScanner.hasByteOrderMark($0) })
        #expect(!Array("{}".utf8).withUnsafeBytes { JSONScanner.hasByteOrderMark($0) })
        #expect(outcome(of: marked) == JSONError(.unexpectedByte, at: 0))
    }

    @Test func `an empty buffer without memory is an empty document`() {
        #expect(throws: JSONError(.empty, at: 0)) {
            try JSONScanner.document(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    @Test func `codes are stable`() {
        let codes = JSONError.Code.allCases.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        #expect(codes.allSatisfy { $0.hasPrefix("json.") })
        for code in JSONError.Code.allCases { #expect(!JSONError(code, at: 1).description.isEmpty) }
    }
}

extension String {
    /// Puts one more opening bracket behind the first `count`.
    fileprivate func replacingInner(_ opening: String, _ count: Int) -> String {
        let place = index(startIndex, offsetBy: opening.count * count)
        return String(self[..<place]) + opening + "1}" + String(self[index(after: place)...])
    }
}
