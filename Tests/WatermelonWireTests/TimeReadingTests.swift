// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing
import WatermelonWire

@Suite struct TimeReadingTests {
    /// The value of the query parameter, and what a pull with it says; nil is the first sync.
    static let times: [(String, Int64?)] = [
        ("1003", 1003), ("%201003%20", 1003), ("0001003", 1003), ("%221003%22", 1003), ("1.003e3", 1003),
        ("1.0035E%2B3", 1003), ("1e+3", 1000), ("10030e-1", 1003), ("1700000000123.75", 1_700_000_000_123),
        ("9007199254740991.9", 9_007_199_254_740_991), ("0.9", nil), ("0.0", nil), ("-0", nil), ("0e5", nil),
        ("1700000000123456789", 1_700_000_000_123_456_789), ("1e21", .max), ("99999999999999999999", .max),
        ("1e-5", nil), ("null", nil), ("undefined", nil), ("", nil), ("%20", nil), ("0", nil),
        ("2023-11-14T22:13:20.123Z", 1_700_000_000_123), ("2023-11-14t22:13:20.123z", 1_700_000_000_123),
        ("%222023-11-14T22:13:20.123Z%22", 1_700_000_000_123), ("2023-11-14T22:13:20.1239Z", 1_700_000_000_123),
        ("2023-11-14T22:13:20,1Z", 1_700_000_000_100), ("2023-11-14T22:13:20Z", 1_700_000_000_000),
        ("2023-11-14T22:13Z", 1_699_999_980_000), ("2023-11-14T23:13:20.123+01:00", 1_700_000_000_123),
        ("2023-11-14T23:13:20.123%2B01:00", 1_700_000_000_123), ("2023-11-14T17:13:20.123-0500", 1_700_000_000_123),
        ("2023-11-14+22:13:20.123+00", 1_700_000_000_123), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("2000-02-29T23:59:59.999Z", 951_868_799_999), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ("1970-01-01T00:00:00.000Z", nil), ("1970-01-01T00:00:00.0009Z", nil), ("1970-01-01T00:00:00.001Z", 1),
    ]

    @Test(arguments: times)
    func `a time that can be read is taken, cut and never rounded up`(text: String, expected: Int64?) throws {
        let pull = try #require(try read("GET", "/sync?last_pulled_at=\(text)")?.pull)
        #expect(pull.lastPulledAt == expected.map { .cursor($0) } ?? .never)
    }

    @Test(arguments: [
        "NaN", "Infinity", "-Infinity", "yesterday", "-5", "-0.5", "-1e-3", "1003x", "1003.", ".5", "1e", "e3", "0x10",
        "١٠٠٣",
        "1,003", "1 003", "true", "%5Bobject%20Object%5D", "%7B%7D", "%22", "%22null%22", "%00", "%FF", "2023-11-14",
        "2023-11-14T22:13:20.123", "2023-11-14T22:13:20.Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2023-13-01T00:00:00Z", "2023-00-01T00:00:00Z", "2023-01-00T00:00:00Z", "2023-04-31T00:00:00Z",
        "2023-11-14T24:00:00Z", "2023-11-14T22:60:00Z", "2023-11-14T22:13:60Z", "2023-11-14T22:13:20%2B24:00",
        "2023-11-14T22:13:20ZZ", "1969-12-31T23:59:59.999Z", "1970-01-01T00:30:00%2B01:00", "0000-01-01T00:00:00Z",
        "Tue%20Nov%2014%202023", "%2B275760-09-13T00:00:00.000Z", String(repeating: "9", count: 401),
    ])
    func `a time that can't be read is refused, since a first pull would hide the app's error`(text: String) {
        #expect(codeOfReading("GET", "/sync?last_pulled_at=\(text)") == .lastPulledAt)
        #expect(codeOfReading("POST", "/sync/push?last_pulled_at=\(text)", body: #"{"changes":{}}"#) == .lastPulledAt)
    }

    @Test(
        arguments: [
            ("1003", 1003), (#""1003""#, 1003), ("1003.9", 1003), ("1.0039e3", 1003), ("null", nil), ("0", nil),
            ("-0.0", nil),
            (#""""#, nil), (#""null""#, nil), (#""undefined""#, nil),
            (#""2023-11-14T22:13:20.123Z""#, 1_700_000_000_123),
            (#""100\u0033""#, 1003), ("1e400", Int64.max),
        ] as [(String, Int64?)])
    func `a time in the body is read by the same rules`(json: String, expected: Int64?) throws {
        let pull = try read("POST", "/sync/pull", body: #"{"lastPulledAt":\#(json)}"#)?.pull
        #expect(pull?.lastPulledAt == expected.map { .cursor($0) } ?? .never)
        let push = try read("POST", "/sync/push", body: #"{"changes":{},"lastPulledAt":\#(json)}"#)?.push
        #expect(try #require(push).lastPulledAt == expected)
    }

    @Test(arguments: ["true", "false", "[]", "[1003]", "{}", #"{"a":1}"#, #""later""#, "-1"])
    func `a time of another kind in the body is refused`(json: String) {
        #expect(codeOfReading("POST", "/sync/pull", body: #"{"lastPulledAt":\#(json)}"#) == .lastPulledAt)
    }

    @Test(arguments: [
        ("last_pulled_at=7&last_pulled_at=8", "{}"), ("last_pulled_at=7&lastPulledAt=null", "{}"),
        ("last_pulled_at=7", #"{"lastPulledAt":8}"#), ("last_pulled_at=0", #"{"lastPulledAt":8}"#),
        ("", #"{"lastPulledAt":8,"last_pulled_at":9}"#), ("", #"{"lastPulledAt":8,"lastPulledAt":9}"#),
        ("last_pulled_at=7", #"{"lastPulledAt":null}"#),
    ])
    func `times that contradict each other are refused`(query: String, body: String) {
        #expect(codeOfReading("POST", "/sync/pull?\(query)", body: body) == .lastPulledAtTwice)
    }

    @Test(arguments: [
        ("last_pulled_at=7&last_pulled_at=7.5", "{}"), ("last_pulled_at=&lastPulledAt=7", ""),
        ("last_pulled_at=undefined", #"{"lastPulledAt":7}"#), ("last_pulled_at=7", #"{"lastPulledAt":"7"}"#),
    ])
    func `times that agree, or of which one is missing, are taken`(query: String, body: String) throws {
        #expect(try read("POST", "/sync/pull?\(query)", body: body)?.pull?.lastPulledAt == .cursor(7))
    }

    @Test(arguments: [("1", 1), ("2.0", 2), ("%223%22", 3), ("2147483647", 2_147_483_647)])
    func `a schema version is a whole number`(text: String, expected: Int) throws {
        #expect(try read("GET", "/sync?schema_version=\(text)")?.pull?.schemaVersion == expected)
        #expect(try read("GET", "/sync?schemaVersion=\(text)")?.pull?.schemaVersion == expected)
    }

    @Test(arguments: ["", "null", "undefined"])
    func `a schema version that is missing is not told`(text: String) throws {
        #expect(try #require(try read("GET", "/sync?schema_version=\(text)")?.pull).schemaVersion == nil)
    }

    @Test(arguments: ["abc", "0", "-1", "1.5", "2147483648", "NaN", "1&schemaVersion=2"])
    func `a schema version that is none, or two, is refused`(text: String) {
        #expect(codeOfReading("GET", "/sync?schema_version=\(text)") == .schemaVersion)
        #expect(
            codeOfReading("POST", "/sync/push?schema_version=\(text)", body: #"{"changes":{}}"#) == .schemaVersion)
    }

    @Test(arguments: ["true", "[]", "{}"])
    func `a schema version of another kind in the body is refused`(json: String) {
        #expect(codeOfReading("POST", "/sync/pull", body: #"{"schemaVersion":\#(json)}"#) == .schemaVersion)
    }
}
