// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

/// Values as backends write them, each with its column and the value that an app must get.
enum SpellingTable {
    struct Row: Sendable, CustomTestStringConvertible {
        let origin: String
        /// The column's type and attributes, as ``column(_:)`` reads them.
        let column: String
        let value: String
        /// The JSON that the app gets; nil for the column's default, with a count.
        let app: String?
        /// The JSON that the backend gets when the app pushes the value; nil where it does not matter.
        let sent: String?
        var testDescription: String { "\(origin): \(column) ← \(value)" }

        init(_ origin: String, _ column: String, _ value: String, _ app: String?, sent: String? = nil) {
            (self.origin, self.column, self.value, self.app, self.sent) = (origin, column, value, app, sent)
        }
    }

    static let berlin = ZoneOffsets(
        name: "Europe/Berlin", first: 3_600_000,
        changes: [
            .init(at: 1_743_296_400_000, offset: 7_200_000), .init(at: 1_761_440_400_000, offset: 3_600_000),
        ])

    /// Makes a column of words such as `timestamp? seconds zone`.
    static func column(_ text: String) -> Column {
        var words = text.split(separator: " ").map(String.init)
        var type = words.removeFirst()
        let isOptional = type.last == "?"
        if isOptional { type.removeLast() }
        var column = Column(name: "c", type: ColumnType(rawValue: type) ?? .string)
        column.isOptional = isOptional
        for word in words {
            switch word {
            case "strict": column.isStrict = true
            case "seconds", "millis", "http", "date": column.timestampFormat = .init(rawValue: word) ?? .iso
            case "utc": column.zone = .utc
            case "berlin": column.zone = berlin
            case "decimal": column.isDecimal = true
            case "json": column.nestsJSON = true
            case "as-number": column.isSentAsNumber = true
            case "ref": column.reference = "others"
            case "Y/N": column.words = .init(yes: .string("Y"), no: .string("N"))
            case "1/0": column.words = .init(yes: .number(1), no: .number(0))
            case "default-7": column.fallback = .number(7)
            case "default-x": column.fallback = .string("x")
            default: preconditionFailure("no such word: \(word)")
            }
        }
        return column
    }

    static let rows = numbers + booleans + strings + timestamps + dates + strict

    private static let numbers = [
        Row("node-pg, Django REST, Laravel: NUMERIC", "number", #""12.50""#, "12.50"),
        Row("PostgreSQL: float8 as text", "number", #""1e3""#, "1e3"),
        Row("PostgreSQL: float8 as text", "number", #""1.5e-7""#, "1.5e-7"),
        Row("PostgreSQL: float8 as text", "number", #""1E+3""#, "1E+3"),
        Row("CSV import", "number", #"" 7 ""#, "7"),
        Row("CSV import", "number", #""7\r\n""#, "7"),
        Row("CSV import", "number", #""007""#, "7"),
        Row("CSV import", "number", #""+7""#, "7"),
        Row("Oracle, SQL Server: no zero before the point", "number", #""-.5""#, "-0.5"),
        Row("Oracle", "number", #""5.""#, "5"),
        Row("escaped by a serialiser", "number", #""\u0037""#, "7"),
        Row("bigint as text", "number", #""9007199254740991""#, "9007199254740991"),
        Row("bigint as text", "number", #""-9007199254740992""#, "-9007199254740992"),
        Row("bigint as text", "number", #""9007199254740993""#, nil),
        Row("bigint as text", "number", #""009007199254740993""#, nil),
        Row("bigint", "number", "9007199254740992", "9007199254740992"),
        Row("bigint", "number", "9007199254740993", nil),
        Row("no integer of 64 bits", "number", #""+99999999999999999999""#, nil),
        Row("a double beyond 2^53", "number", "-9007199254740994", "-9007199254740994"),
        Row("JavaScript: a double beyond 2^53", "number", "12345678901234567000", "12345678901234567000"),
        Row("snowflake id", "number", "175928847299117063", nil),
        Row("unsigned bigint", "number", "18446744073709551615", nil),
        Row("Rails: BigDecimal", "number", #""0.125E2""#, "0.125E2"),
        Row("any JSON", "number", "1.50", "1.50"), Row("any JSON", "number", "-0", "0"),
        Row("any JSON", "number", "1e400", nil), Row("any JSON", "number", #""1e400""#, nil),
        Row("MySQL tinyint by an ORM", "number", "true", "1"), Row("MySQL tinyint by an ORM", "number", "false", "0"),
        Row("decimal comma", "number", #""12,50""#, nil), Row("decimal comma", "number?", #""12,50""#, nil),
        Row("thousands", "number", #""1,000""#, nil), Row("thousands", "number", #""1 000""#, nil),
        Row("thousands", "number", #""1_000""#, nil), Row("hexadecimal", "number", #""0x10""#, nil),
        Row("PostgreSQL: NaN", "number", #""NaN""#, nil), Row("PostgreSQL", "number", #""Infinity""#, nil),
        Row("JavaScript", "number", #""1e""#, nil), Row("a sign alone", "number", #""-""#, nil),
        Row("a point alone", "number", #"".""#, nil), Row("form post", "number", #""""#, nil),
        Row("form post", "number?", #""""#, nil), Row("text", "number", #""seven""#, nil),
        Row("PostgreSQL: money", "number", #""$12.50""#, nil), Row("units", "number", #""12 kg""#, nil),
        Row("array", "number", "[1]", nil), Row("object", "number", #"{"value":1}"#, nil),
        Row("MongoDB: canonical", "number", #"{"$numberInt":"5"}"#, "5"),
        Row("MongoDB: canonical", "number", #"{"$numberLong":"-5"}"#, "-5"),
        Row("MongoDB: canonical", "number", #"{"$numberDouble":"5.5"}"#, "5.5"),
        Row("MongoDB: Decimal128", "number", #"{"$numberDecimal":"12.50"}"#, "12.50"),
        Row("MongoDB: canonical", "number", #"{"$numberDouble":"NaN"}"#, nil),
        Row("MongoDB: too large", "number", #"{"$numberLong":"9223372036854775807"}"#, nil),
        Row("MongoDB: two members", "number", #"{"$numberInt":"5","x":1}"#, nil),
        Row("NUMERIC(10,2), decimal", "number decimal", #""12.50""#, "12.50", sent: #""12.50""#),
        Row("NUMERIC, decimal", "number decimal", #""-0.05""#, "-0.05", sent: #""-0.05""#),
        Row("NUMERIC, decimal", "number? decimal", "null", "null", sent: "null"),
        Row("NUMERIC, decimal", "number decimal", #""0.33333333333333333333""#, nil),
        Row("NUMERIC, decimal", "number decimal", #""900719925474099""#, "900719925474099"),
        Row("a default of the configuration", "number default-7", #""12,50""#, nil),
    ]

    private static let booleans = [
        Row("PostgreSQL text", "boolean", #""t""#, "true"), Row("PostgreSQL text", "boolean", #""f""#, "false"),
        Row("XML, forms", "boolean", #""true""#, "true"), Row("XML, forms", "boolean", #""false""#, "false"),
        Row("SQL words", "boolean", #""TRUE""#, "true"), Row("SQL words", "boolean", #""FALSE""#, "false"),
        Row("Python", "boolean", #""True""#, "true"), Row("Python", "boolean", #""False""#, "false"),
        Row("PHP, MySQL as text", "boolean", #""1""#, "true"), Row("PHP, MySQL as text", "boolean", #""0""#, "false"),
        Row("MySQL tinyint, SQLite", "boolean", "1", "true"), Row("MySQL tinyint, SQLite", "boolean", "0", "false"),
        Row("SQLite", "boolean", "1.0", "true"), Row("SQLite", "boolean", "-0", "false"),
        Row("decimal as text", "boolean", #""1.0""#, "true"), Row("HTML checkbox", "boolean", #""on""#, "true"),
        Row("HTML checkbox", "boolean", #""off""#, "false"), Row("PostgreSQL input", "boolean", #""yes""#, "true"),
        Row("PostgreSQL input", "boolean", #""no""#, "false"), Row("Oracle", "boolean", #""Y""#, "true"),
        Row("Oracle", "boolean", #""N""#, "false"), Row("CSV", "boolean", #"" true ""#, "true"),
        Row("MySQL BIT(1) as text", "boolean", #""\u0001""#, "true"),
        Row("MySQL BIT(1) as text", "boolean", #""\u0000""#, "false"),
        Row("MySQL BIT(1) by Node.js", "boolean", #"{"type":"Buffer","data":[1]}"#, "true"),
        Row("MySQL BIT(1) by Node.js", "boolean", #"{"type":"Buffer","data":[0]}"#, "false"),
        Row("a longer buffer", "boolean", #"{"type":"Buffer","data":[1,0]}"#, nil),
        Row("MongoDB: canonical", "boolean", #"{"$numberInt":"1"}"#, "true"),
        Row("Access, Visual Basic", "boolean", "-1", nil), Row("a number", "boolean", "2", nil),
        Row("a fraction", "boolean", "0.5", nil), Row("a fraction", "boolean", #""0.5""#, nil),
        Row("an unknown word", "boolean", #""ja""#, nil), Row("an unknown word", "boolean", #""enabled""#, nil),
        Row("form post", "boolean", #""""#, nil), Row("form post", "boolean?", #""""#, nil),
        Row("array", "boolean", "[true]", nil),
        Row("char(1)", "boolean Y/N", #""Y""#, "true", sent: #""Y""#),
        Row("char(1)", "boolean Y/N", #""N""#, "false", sent: #""N""#),
        Row("char(1)", "boolean Y/N", "true", "true", sent: #""Y""#), Row("char(1)", "boolean Y/N", #""y""#, nil),
        Row("char(1)", "boolean Y/N", #""J""#, nil), Row("tinyint", "boolean 1/0", "1", "true", sent: "1"),
        Row("tinyint", "boolean 1/0", "0", "false", sent: "0"), Row("tinyint", "boolean 1/0", "2", nil),
    ]

    private static let strings = [
        Row("integer foreign keys", "string", "12", #""12""#), Row("digits as they came", "string", "1.50", #""1.50""#),
        Row("digits as they came", "string", "1e3", #""1e3""#),
        Row("unsigned bigint", "string", "18446744073709551615", #""18446744073709551615""#),
        Row("code", "string as-number", "12", #""12""#, sent: "12"),
        Row("code", "string as-number", #""A12""#, #""A12""#, sent: #""A12""#),
        Row("flag", "string", "true", #""true""#), Row("flag", "string", "false", #""false""#),
        Row("any JSON", "string", #""a\nb é""#, #""a\nb é""#), Row("any JSON", "string", #""""#, #""""#),
        Row("MongoDB", "string", #"{"$oid":"507f1f77bcf86cd799439011"}"#, #""507f1f77bcf86cd799439011""#),
        Row(
            "MongoDB", "string", #"{"$uuid":"c8edabc3-f738-4ca3-b68d-ab92a91478a3"}"#,
            #""c8edabc3-f738-4ca3-b68d-ab92a91478a3""#),
        Row("MongoDB", "string", #"{"$numberLong":"12"}"#, #""12""#),
        Row("MongoDB", "string", #"{"$date":"2025-01-01T10:00:00Z"}"#, #""2025-01-01T10:00:00Z""#),
        Row("object", "string", #"{"a":1}"#, nil), Row("array", "string", #"["a"]"#, nil),
        Row("array", "string?", #"["a"]"#, nil),
        Row("PostgreSQL jsonb", "string json", #"{"a":[1, 2]}"#, #""{\"a\":[1,2]}""#, sent: #"{"a":[1,2]}"#),
        Row("PostgreSQL array", "string json", #"["a"]"#, #""[\"a\"]""#, sent: #"["a"]"#),
        Row("mixed", "string json", #""plain""#, #""plain""#, sent: #""plain""#),
        Row("no id is empty", "string? ref", #""""#, "null", sent: "null"),
        Row("a required reference", "string ref", #""""#, #""""#, sent: #""""#),
        Row("integer id", "string? ref", "17", #""17""#),
        Row("integer id as a decimal", "string? ref", "17.0", #""17""#),
        Row("MongoDB id", "string? ref", #"{"$oid":"507f1f77bcf86cd799439011"}"#, #""507f1f77bcf86cd799439011""#),
        Row("a default of the configuration", "string default-x", "[]", nil),
    ]

    private static let timestamps = [
        Row("epoch in seconds", "timestamp seconds", "1735725600", "1735725600000", sent: "1735725600"),
        Row("epoch as text", "timestamp seconds", #""1735725600""#, "1735725600000", sent: "1735725600"),
        Row("Jackson: Instant", "timestamp seconds", "1735725600.123456789", "1735725600123"),
        Row("PostgreSQL: extract(epoch)", "timestamp seconds", #""1735725600.123456""#, "1735725600123"),
        Row("before 1970", "timestamp seconds", "-1.5", "-1500"),
        Row("seconds with an exponent", "timestamp seconds", "1.7357256e9", "1735725600000"),
        Row(
            "ISO in a column of seconds", "timestamp seconds", #""2025-01-01T10:00:00Z""#, "1735725600000",
            sent: "1735725600"),
        Row("milliseconds", "timestamp", "1735725600000", "1735725600000", sent: #""2025-01-01T10:00:00.000Z""#),
        Row("milliseconds as text", "timestamp", #""1735725600000""#, "1735725600000"),
        Row("milliseconds", "timestamp millis", "1735725600000", "1735725600000", sent: "1735725600000"),
        Row("milliseconds with a fraction", "timestamp", "1735725600000.9", "1735725600000"),
        Row("PostgreSQL text", "timestamp", #""2025-01-01 10:00:00.123456+00""#, "1735725600123"),
        Row("PostgreSQL text", "timestamp", #""2025-01-01 15:30:00+05:30""#, "1735725600000"),
        Row("PostgreSQL: local mean time", "timestamp", #""1890-01-01 00:53:28+00:53:28""#, "-2524521600000"),
        Row("PostgreSQL JSON", "timestamp", #""2025-01-01T10:00:00.123+00:00""#, "1735725600123"),
        Row(".NET", "timestamp", #""2025-01-01T10:00:00.1234567Z""#, "1735725600123"),
        Row(".NET: JavaScriptSerializer", "timestamp", #""\/Date(1735725600000)\/""#, "1735725600000"),
        Row(".NET: DataContractJson", "timestamp", #""/Date(1735725600000+0100)/""#, "1735725600000"),
        Row(".NET: before 1970", "timestamp", #""/Date(-1)/""#, "-1"),
        Row(".NET: not a number", "timestamp", #""/Date(x)/""#, nil),
        Row("SQL Server: datetimeoffset", "timestamp", #""2025-01-01 11:00:00.0000000 +01:00""#, "1735725600000"),
        Row("Java: ZonedDateTime", "timestamp", #""2026-11-26T10:00:00Z[UTC]""#, "1795687200000"),
        Row("Java: ZonedDateTime", "timestamp", #""2026-11-26T11:00:00+01:00[Europe/Berlin]""#, "1795687200000"),
        Row("Java: a zone by name alone", "timestamp", #""2026-11-26T11:00:00[Europe/Berlin]""#, nil),
        Row("Java: UTC by name alone", "timestamp", #""2026-11-26T10:00:00[UTC]""#, "1795687200000"),
        Row("Ruby: Time#to_s", "timestamp", #""2026-11-26 10:00:00 +0000""#, "1795687200000"),
        Row("Ruby: Time#to_s", "timestamp", #""2026-11-26 10:00:00 UTC""#, "1795687200000"),
        Row("Go: Time.String", "timestamp", #""2026-11-26 11:00:00 +0100 CET""#, "1795687200000"),
        Row("ISO basic", "timestamp", #""20250101T100000Z""#, "1735725600000"),
        Row("ISO basic", "timestamp", #""20250101T110000.5+0100""#, "1735725600500"),
        Row("ISO basic", "timestamp", #""20250101T1000Z""#, "1735725600000"),
        Row("HTTP date", "timestamp", #""Wed, 01 Jan 2025 10:00:00 GMT""#, "1735725600000"),
        Row(
            "HTTP date", "timestamp http", #""Wed, 01 Jan 2025 10:00:00 GMT""#, "1735725600000",
            sent: #""Wed, 01 Jan 2025 10:00:00 GMT""#),
        Row("mail date", "timestamp", #""Wed, 1 Jan 2025 11:00:00 +0100""#, "1735725600000"),
        Row("mail date", "timestamp", #""1 Jan 2025 11:00 +0100""#, "1735725600000"),
        Row(
            "JavaScript: toString", "timestamp",
            #""Wed Jan 01 2025 11:00:00 GMT+0100 (Central European Standard Time)""#, "1735725600000"),
        Row("Java: Date.toString", "timestamp", #""Wed Jan 01 10:00:00 UTC 2025""#, "1735725600000"),
        Row("an ambiguous zone", "timestamp", #""Wed Jan 01 10:00:00 IST 2025""#, nil),
        Row("MongoDB: relaxed", "timestamp", #"{"$date":"2025-01-01T10:00:00Z"}"#, "1735725600000"),
        Row("MongoDB: canonical", "timestamp", #"{"$date":{"$numberLong":"1735725600000"}}"#, "1735725600000"),
        Row("MongoDB: legacy", "timestamp seconds", #"{"$date":1735725600000}"#, "1735725600000"),
        Row("MongoDB: no date", "timestamp", #"{"$date":{"x":1}}"#, nil),
        Row("PostgreSQL", "timestamp", #""infinity""#, nil), Row("PostgreSQL", "timestamp?", #""-infinity""#, nil),
        Row("MySQL: zero date", "timestamp", #""0000-00-00 00:00:00""#, nil),
        Row("MySQL: zero date", "timestamp?", #""0000-00-00""#, nil), Row("form post", "timestamp", #""""#, nil),
        Row("a day that is none", "timestamp", #""2025-02-30T10:00:00Z""#, nil),
        Row("beyond all times", "timestamp seconds", "9999999999999999", nil),
        Row("beyond all times", "timestamp", #""9999999999999999999""#, nil),
        Row("beyond Date", "timestamp", "9e15", nil), Row("beyond Date", "timestamp seconds", "9e12", nil),
        Row("American", "timestamp", #""01/02/2025""#, nil), Row("German", "timestamp", #""01.02.2025""#, nil),
        Row("a time alone", "timestamp", #""10:00:00""#, nil), Row("words", "timestamp", #""yesterday""#, nil),
        Row("boolean", "timestamp", "true", nil), Row("object", "timestamp", "{}", nil),
        Row("Jackson: too short", "timestamp", "[2026]", nil),
        Row("Jackson: no month", "timestamp", "[2026,13,1]", nil),
    ]

    /// Times without a zone, and dates without a time.
    private static let dates = [
        Row("MySQL, SQLite", "timestamp", #""2025-01-01 10:00:00""#, "1735725600000"),
        Row(
            "MySQL, SQLite", "timestamp utc", #""2025-01-01 10:00:00""#, "1735725600000",
            sent: #""2025-01-01T10:00:00.000Z""#),
        Row("Python: isoformat", "timestamp", #""2025-01-01T10:00:00.123456""#, "1735725600123"),
        Row("Jackson: LocalDateTime", "timestamp", "[2026,11,26,10,0]", "1795687200000"),
        Row("Jackson: LocalDateTime", "timestamp", "[2026,11,26,10,0,30,500000000]", "1795687230500"),
        Row("Gson", "timestamp", #""Jan 1, 2025, 10:00:00 AM""#, "1735725600000"),
        Row("Gson", "timestamp", #""Jan 1, 2025 12:30:00 PM""#, "1735734600000"),
        Row("C: asctime", "timestamp", #""Wed Jan  1 10:00:00 2025""#, "1735725600000"),
        Row(
            "local, winter", "timestamp berlin", #""2025-01-01 11:00:00""#, "1735725600000",
            sent: #""2025-01-01T11:00:00.000+01:00""#),
        Row(
            "local, summer", "timestamp berlin", #""2025-07-01 12:00:00""#, "1751364000000",
            sent: #""2025-07-01T12:00:00.000+02:00""#),
        Row(
            "local, shown twice: the earlier", "timestamp berlin", #""2025-10-26 02:30:00""#, "1761438600000",
            sent: #""2025-10-26T02:30:00.000+02:00""#),
        Row("local, skipped", "timestamp berlin", #""2025-03-30 02:30:00""#, "1743298200000"),
        Row("a zone of its own counts", "timestamp berlin", #""2025-01-01T10:00:00Z""#, "1735725600000"),
        Row("Jackson: local", "timestamp berlin", "[2025,1,1,11,0]", "1735725600000"),
        Row("a day", "timestamp date", #""2026-12-24""#, "1798070400000", sent: #""2026-12-24""#),
        Row("a day, local", "timestamp date berlin", #""2025-07-01""#, "1751320800000", sent: #""2025-07-01""#),
        Row("SAP, AS/400: digits", "timestamp", #""20250101""#, "1735689600000"),
        Row(
            "SAP: no end", "timestamp utc", #""99991231""#, "253402214400000",
            sent: #""9999-12-31T00:00:00.000Z""#),
        Row("SAP: TIMESTAMP", "timestamp", #""20250101100000""#, "1735725600000"),
        Row("SAP: TIMESTAMP, local", "timestamp berlin", #""20250101110000""#, "1735725600000"),
        Row("SAP: no date", "timestamp", #""00000000""#, "0"),
        Row("no day of a month", "timestamp", #""20250230""#, "20250230"),
        Row("a year", "timestamp", #""2025""#, nil), Row("a year", "timestamp", "2025", nil),
        Row("digits that may count", "timestamp", #""202501011000""#, nil),
        Row("digits that count", "timestamp millis", #""20250101""#, "20250101"),
        Row("digits that count", "timestamp seconds", #""20250101""#, "20250101000"),
        Row("DATE", "timestamp", #""2025-01-01""#, "1735689600000"),
        Row(
            "DATE, local", "timestamp berlin", #""2025-01-01""#, "1735686000000",
            sent: #""2025-01-01T00:00:00.000+01:00""#),
        Row("Jackson: LocalDate", "timestamp", "[2026,11,26]", "1795651200000"),
        Row("a date by name", "timestamp", #""1 January 2025""#, "1735689600000"),
    ]

    private static let strict = [
        Row("strict", "number strict", "12.5", "12.5"), Row("strict", "number strict", #""12.5""#, nil),
        Row("strict", "number strict", "true", nil), Row("strict", "boolean strict", "true", "true"),
        Row("strict", "boolean strict", "1", nil), Row("strict", "boolean strict", #""t""#, nil),
        Row("strict", "string strict", #""12""#, #""12""#), Row("strict", "string strict", "12", nil),
        Row("strict", "string strict", #"{"$oid":"x"}"#, nil),
        Row("strict", "timestamp strict", #""2025-01-01T10:00:00Z""#, "1735725600000"),
        Row("strict", "timestamp strict", "1735725600000", "1735725600000"),
        Row("strict", "timestamp strict", #""2025-01-01 10:00:00""#, nil),
        Row("strict", "timestamp strict", #""2025-01-01""#, nil),
        Row("strict", "timestamp strict", #""Wed, 01 Jan 2025 10:00:00 GMT""#, nil),
    ]
}
