// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import Testing

@Suite struct JSONSliceTests {
    @Test(arguments: [
        (#""plain""#, "plain"), (#""""#, ""), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u00e9""#, "é"),
        (#""a\u0000b""#, "a\u{0}b"), (#""\ud83d\ude00""#, "😀"), (#""\uD83D""#, "\u{fffd}"), (#""\uDE00""#, "\u{fffd}"),
        (#""\uDE00\uD83D""#, "\u{fffd}\u{fffd}"), (#""\uD83Dx""#, "\u{fffd}x"), (#""\uD83D\n""#, "\u{fffd}\n"),
        (#""\uD83D\u0041""#, "\u{fffd}A"), (#""\uD83D\uD83D\uDE00""#, "\u{fffd}😀"),
        (#""\uffff\u0800\u07ff""#, "\u{ffff}\u{800}\u{7ff}"),
        (#""\udbff\udfff""#, "\u{10ffff}"), (#""Größe 日本""#, "Größe 日本"),
    ])
    func `strings are unescaped and lone surrogates repaired`(json: String, text: String) throws {
        try withSlice(json) { slice in
            #expect(slice.string.map { Array($0.utf8) } == Array(text.utf8))
            #expect(slice.equals(text))
            #expect(slice.withText { Array($0) } == Array(text.utf8))
            #expect(!slice.equals(text + "x"))
            #expect(written { $0.append(stringSlice: slice) }.hasPrefix("\""))
            // Written out and read again it is the same text.
            let copy = written { $0.append(slice) }
            try withSlice(copy) { #expect($0.string.map { Array($0.utf8) } == Array(text.utf8)) }
        }
    }

    @Test(
        arguments: [
            ("17", "17"), ("17.0", "17"), ("1.7e1", "17"), ("1700E-2", "17"), ("0.017e+3", "17"), ("-17.00", "-17"),
            (#""17""#, "17"), (#""17.0""#, "17.0"), (#""\u0061""#, "a"), ("-0", "0"), ("-0.0", "0"),
            ("0e99999999999", "0"),
            ("9007199254740991.0", "9007199254740991"), ("9007199254740992", "9007199254740992"),
            ("12345678901234567890", "12345678901234567890"),
            // What a double would round to an integer is none, and larger ones may have been rounded.
            ("17.00000000000000000001", nil), ("4503599627370497.5", nil), ("9007199254740992.0", nil),
            ("9007199254740993.0", nil), ("1e16", nil), ("1e400", nil), ("1e-400", nil), ("1e99999999999", nil),
            ("1.5", nil), (#""""#, nil), ("null", nil), ("true", nil), ("[17]", nil), (#"{"id":17}"#, nil),
        ] as [(String, String?)])
    func `a text or an integer names a record, and any spelling of an integer names the same`(
        json: String, id: String?
    ) throws {
        try withSlice(json) { #expect($0.idText == id) }
        #expect(try JSONValue.parse(json).idText == id)
    }

    @Test func `flags tell what a string needs`() throws {
        try withSlice(#""abc""#) { #expect(!$0.hasEscapes && $0.isASCII && !$0.hasSurrogateEscapes) }
        try withSlice(#""a\n""#) { #expect($0.hasEscapes && $0.isASCII && !$0.hasSurrogateEscapes) }
        try withSlice(#""é""#) { #expect(!$0.hasEscapes && !$0.isASCII) }
        try withSlice(#""é\ud800""#) { #expect($0.hasEscapes && !$0.isASCII && $0.hasSurrogateEscapes) }
        try withSlice(#""\ud7ff\ue000""#) { #expect(!$0.hasSurrogateEscapes) }
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1", 1), ("-1", -1), ("9223372036854775807", Int64.max),
            ("-9223372036854775808", Int64.min),
            ("9223372036854775808", nil), ("-9223372036854775809", nil), ("10000000000000000999", nil), ("1.0", nil),
            ("1e3", nil), ("\"1\"", nil), ("null", nil),
        ] as [(String, Int64?)])
    func `integers are exact or nil`(json: String, value: Int64?) throws {
        try withSlice(json) { #expect($0.int64 == value) }
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("-1.5", -1.5), ("1e3", 1000), ("123456789012345", 123_456_789_012_345), ("0.1", 0.1),
            ("1e400", nil), ("-1e400", nil), ("1e-400", 0), ("1.7976931348623157e308", Double.greatestFiniteMagnitude),
            ("1.7976931348623159e308", nil), ("5e-324", Double.leastNonzeroMagnitude),
            ("9007199254740993", 9_007_199_254_740_992),
            ("10000000000000000999", 1e19), ("\"1\"", nil), ("true", nil),
        ] as [(String, Double?)])
    func `doubles are the nearest finite ones or nil`(json: String, value: Double?) throws {
        try withSlice(json) {
            #expect($0.double == value)
            #expect($0.isFiniteNumber == (value != nil))
        }
    }

    @Test func `a long run of digits is finite or not by its value`() throws {
        try withSlice(String(repeating: "9", count: 308)) { #expect($0.isFiniteNumber) }
        try withSlice(String(repeating: "9", count: 310)) { #expect(!$0.isFiniteNumber && $0.double == nil) }
        try withSlice("0." + String(repeating: "9", count: 400)) { #expect($0.isFiniteNumber && $0.double == 1) }
    }

    @Test(arguments: [
        ("-0", true), ("-0.0", true), ("-0e5", true), ("-0.000e-9", true), ("0", false), ("-1", false), ("-0.1", false),
        ("-0.00e0", true), ("-1e-400", true), ("-0.0001", false),
    ])
    func `minus zero is told by its spelling`(json: String, isNegativeZero: Bool) throws {
        try withSlice(json) {
            #expect($0.isNegativeZero == isNegativeZero)
            if isNegativeZero { #expect($0.double?.sign == .minus && $0.double == 0) }
        }
    }

    @Test func `literals have their values`() throws {
        try withSlice("true") { #expect($0.bool == true && !$0.isNull) }
        try withSlice("false") { #expect($0.bool == false) }
        try withSlice("null") { #expect($0.bool == nil && $0.isNull && $0.string == nil) }
    }

    @Test func `names are compared by bytes, escapes resolved`() throws {
        try withSlice(#""t\u0079pe""#) { #expect($0.equals("type") && !$0.equals("typ") && !$0.equals("types")) }
        try withSlice("\"e\u{301}\"") { #expect(!$0.equals("\u{e9}") && $0.equals("e\u{301}")) }
        try withSlice(#""""#) { #expect($0.equals("") && $0.isEmptyString) }
        try withSlice("1") { #expect(!$0.equals("1")) }
        try withSlice(#""abcdefghijkl""#) { #expect($0.equals("abcdefghijkl") && !$0.equals("abcdefghijkL")) }
        try withSlice(#""abcdefghijkl""#) { #expect(!$0.equals("Xbcdefghijkl") && !$0.equals("abcdefgXijkl")) }
    }

    @Test func `members and elements are found, the last of equal names`() throws {
        try withSlice(#"{"a":1,"b":[10,[20],{"c":30}],"\u0061":2,"d":{}}"#) { slice in
            #expect(slice.member("a")?.int64 == 2)
            #expect(slice.member("b")?.element(at: 2)?.member("c")?.int64 == 30)
            #expect(slice.member("b")?.element(at: 1)?.element(at: 0)?.int64 == 20)
            #expect(slice.member("b")?.element(at: 3) == nil)
            #expect(slice.member("b")?.element(at: -1) == nil)
            #expect(slice.member("x") == nil)
            #expect(slice.element(at: 0) == nil)
            #expect(slice.member("a")?.member("x") == nil)
            var names: [String] = []
            slice.forEachMember { name, _ in names.append(name.string ?? "?") }
            #expect(names == ["a", "b", "a", "d"])
            var sum: Int64 = 0
            try withSlice("[1,2,3]") { $0.forEachElement { sum += $0.int64 ?? 0 } }
            #expect(sum == 6)
        }
    }
}
