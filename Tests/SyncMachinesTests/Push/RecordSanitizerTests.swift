// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncMachines
import SyncModel
import Testing

@Suite struct RecordSanitizerTests {
    /// What one value of one column comes to.
    struct Case: Sendable, CustomTestStringConvertible {
        let column: Column
        let sent: String
        let expected: String
        var isRepaired = false
        var testDescription: String { "\(column.type)\(column.isOptional ? "?" : "") ← \(sent)" }
    }

    private static func column(
        _ type: ColumnType, optional: Bool = false, _ change: (inout Column) -> Void = { _ in }
    ) -> Column {
        var column = Column(name: "c", type: type)
        column.isOptional = optional
        change(&column)
        return column
    }

    private static let seconds: @Sendable (inout Column) -> Void = { $0.timestampFormat = .seconds }
    private static let date: @Sendable (inout Column) -> Void = { $0.timestampFormat = .date }
    private static let order: @Sendable (inout Column) -> Void = {
        $0.oneOf = .init(allowed: ["asc", "desc"], fallback: "asc")
    }

    private static let short: @Sendable (inout Column) -> Void = { $0.maximumLength = 3 }

    static let cases: [Case] = [
        Case(column: column(.string), sent: #""a""#, expected: #""a""#),
        Case(column: column(.string), sent: "[5]", expected: #""""#, isRepaired: true),
        Case(column: column(.string, optional: true), sent: "[5]", expected: "null", isRepaired: true),
        Case(column: column(.string, optional: true), sent: "null", expected: "null"),
        Case(column: column(.string), sent: "null", expected: #""""#, isRepaired: true),
        Case(column: column(.string), sent: #""a\u0000b""#, expected: "\"a\u{FFFD}b\"", isRepaired: true),
        Case(column: column(.string), sent: #""\ud83c!""#, expected: "\"\u{FFFD}!\""),
        Case(column: column(.string, order), sent: #""desc""#, expected: #""desc""#),
        Case(column: column(.string, order), sent: #""abcdef""#, expected: #""asc""#, isRepaired: true),
        Case(column: column(.string, order), sent: "1", expected: #""asc""#, isRepaired: true),
        Case(column: column(.string, short), sent: #""abc""#, expected: #""abc""#),
        Case(column: column(.string, short), sent: #""abcd""#, expected: #""abc""#, isRepaired: true),
        Case(column: column(.string, short), sent: #""äöü""#, expected: #""äöü""#),
        Case(column: column(.string, short), sent: #""🌙🌙🌙🌙""#, expected: #""🌙🌙🌙""#, isRepaired: true),
        // Scalars, not letters: a mark may lose the letter's other marks, but no scalar is cut.
        Case(column: column(.string, short), sent: #""ab\u0065\u0301""#, expected: #""abe""#, isRepaired: true),
        Case(
            column: column(.string, optional: true, short), sent: #""a\u0000cd""#, expected: "\"a\u{FFFD}c\"",
            isRepaired: true),
        Case(column: column(.number), sent: "1.50", expected: "1.50"),
        Case(column: column(.number), sent: "1e400", expected: "0", isRepaired: true),
        Case(column: column(.number, optional: true), sent: #""1,5""#, expected: "null", isRepaired: true),
        Case(column: column(.boolean), sent: "true", expected: "true"),
        Case(column: column(.boolean), sent: "1", expected: "true"),
        Case(column: column(.boolean), sent: "0", expected: "false"),
        Case(column: column(.boolean), sent: "2", expected: "false", isRepaired: true),
        Case(column: column(.timestamp), sent: "1700000000123", expected: #""2023-11-14T22:13:20.123Z""#),
        Case(column: column(.timestamp), sent: "-1", expected: #""1969-12-31T23:59:59.999Z""#),
        Case(column: column(.timestamp, date), sent: "1798135200000", expected: #""2026-12-24""#),
        Case(column: column(.timestamp, date), sent: "-1", expected: #""1969-12-31""#),
        Case(column: column(.timestamp, seconds), sent: "1700000000999", expected: "1700000000"),
        Case(column: column(.timestamp, seconds), sent: "-1", expected: "-1"),
        Case(column: column(.timestamp, seconds), sent: "-8640000000000000", expected: "-8640000000000"),
        Case(column: column(.timestamp, seconds), sent: "-9223372036854775808", expected: "0", isRepaired: true),
        Case(
            column: column(.timestamp) { $0.timestampFormat = .millis }, sent: "1700000000123.9",
            expected: "1700000000123"),
        Case(column: column(.timestamp, optional: true), sent: "null", expected: "null"),
        Case(column: column(.timestamp), sent: #""soon""#, expected: #""1970-01-01T00:00:00.000Z""#, isRepaired: true),
        Case(column: column(.timestamp, optional: true), sent: "1e300", expected: "null", isRepaired: true),
        Case(column: column(.json), sent: #""{\"a\":[1]}""#, expected: #"{"a":[1]}"#),
        Case(column: column(.json), sent: #""{broken""#, expected: "null", isRepaired: true),
        Case(column: column(.json), sent: #""""#, expected: "null"),
    ]

    @Test(arguments: cases) func `a pushed value becomes what the backend takes`(_ test: Case) throws {
        var table = Table(name: "t")
        table.columns = [test.column]
        let record = try JSONValue.parse(#"{"id":"x","c":\#(test.sent)}"#)
        let result = RecordSanitizer(table: table).sanitize(record)
        #expect(String(decoding: result.data.serialised, as: UTF8.self) == #"{"c":\#(test.expected)}"#)
        #expect(result.repaired == (test.isRepaired ? ["c"] : []))
    }

    @Test func `only writable columns go out, at their paths, and bookkeeping never does`() throws {
        var nested = Column(
            name: "city", type: .string, sources: [.path(Path([.name("address"), .name("city")]), types: [])])
        var street = Column(
            name: "street", type: .string, sources: [.path(Path([.name("address"), .name("street")]), types: [])])
        nested.isOptional = true
        street.isOptional = true
        var created = Column(name: "created_at", type: .timestamp)
        created.isReadonly = true
        var moved = Column(name: "kind", type: .string, sources: [.lineType])
        moved.sendPath = Path(name: "category")
        var table = Table(name: "t")
        table.columns = [nested, street, created, moved]
        let record = try JSONValue.parse(
            #"{"id":"x","_status":"updated","_changed":"city","city":"B","street":"S","created_at":5,"kind":"k","x":1}"#
        )
        let result = RecordSanitizer(table: table).sanitize(record)
        #expect(
            String(decoding: result.data.serialised, as: UTF8.self)
                == #"{"address":{"city":"B","street":"S"},"category":"k"}"#)
        #expect(result.dropped == 1)
    }

    @Test func `a large json column goes out whole`() throws {
        var table = Table(name: "t")
        table.columns = [Column(name: "points", type: .json)]
        let points = "[" + (0..<150_000).map { String($0 % 10) }.joined(separator: ",") + "]"
        let record = JSONValue.object([.init("id", .string("x")), .init("points", .string(points))])
        let result = RecordSanitizer(table: table).sanitize(record)
        #expect(result.repaired.isEmpty)
        #expect(result.value(of: "points")?.array?.count == 150_000)
    }

    @Test(arguments: [true, false])
    func `the version that the client had seen is told, also where it is not written`(isReadonly: Bool) throws {
        var column = Column(name: "v", type: .number)
        (column.isVersion, column.isReadonly) = (true, isReadonly)
        var table = Table(name: "t")
        table.columns = [column]
        let sanitizer = RecordSanitizer(table: table)
        let result = sanitizer.sanitize(try JSONValue.parse(#"{"id":"x","v":7}"#))
        #expect(result.version == .integer(7) && result.values.isEmpty == isReadonly)
        #expect(sanitizer.sanitize(try JSONValue.parse(#"{"id":"x"}"#)).version == nil)
    }

    @Test func `a column that the client did not send stays untouched`() throws {
        var table = Table(name: "t")
        table.columns = [Column(name: "a", type: .string), Column(name: "b", type: .number)]
        let result = RecordSanitizer(table: table).sanitize(try JSONValue.parse(#"{"id":"x","b":1}"#))
        #expect(String(decoding: result.data.serialised, as: UTF8.self) == #"{"b":1}"#)
        #expect(result.repaired.isEmpty)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
        (Int64.min, "0001-01-01T00:00:00.000Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
    ])
    func `times are written in ISO 8601`(_ milliseconds: Int64, _ text: String) {
        #expect(ISO8601.text(milliseconds: milliseconds) == text)
    }
}
