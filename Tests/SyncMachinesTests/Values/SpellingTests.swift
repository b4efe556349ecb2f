// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncMachines
import SyncModel
import Testing

@Suite struct SpellingTests {
    /// A table with one column beside the title, both ways.
    struct Bench {
        let table: Table
        var projector: LineProjector

        init(_ column: Column) {
            var table = Table(name: "t")
            table.feeds = [.init(versions: [.init(requestType: "Ts")])]
            table.upserts = ["T"]
            table.columns = [Column(name: "title", type: .string), column]
            self.table = table
            let schema = Schema(version: 1, tables: [table, Table(name: "others")])
            projector = LineProjector(Projection(schema: schema, schemaVersion: 1), key: SipHash.Key(1, 2))
        }

        /// Returns the column as an app gets it from a line.
        mutating func down(_ value: String) throws -> String {
            let line = #"{"type":"T","ack":"T|1","data":{"id":"x","title":"a","c":\#(value)}}"#
            var output = JSONWriter()
            _ = Array(line.utf8).withUnsafeBytes { projector.project($0, into: &output) }
            let text = String(decoding: output.bytes, as: UTF8.self)
            let prefix = #"{"id":"x","title":"a","c":"#
            try #require(text.hasPrefix(prefix), "\(text)")
            return String(text.dropFirst(prefix.count).dropLast())
        }

        /// Returns what the backend gets of a record that an app pushes.
        func up(_ value: String) throws -> SanitizedRecord {
            RecordSanitizer(table: table).sanitize(try JSONValue.parse(#"{"id":"x","title":"b","c":\#(value)}"#))
        }
    }

    private static func text(_ value: JSONValue?) -> String? {
        value.map { String(decoding: $0.serialised, as: UTF8.self) }
    }

    @Test(arguments: SpellingTable.rows)
    func `a value goes down and up again as it was, or is the default and counted`(_ row: SpellingTable.Row) throws {
        var bench = Bench(SpellingTable.column(row.column))
        let app = try bench.down(row.value)
        #expect(bench.projector.counters.defaults.wrong == (row.app == nil ? 1 : 0))
        #expect(bench.projector.isDefaulted == (row.app == nil))
        let record = try bench.up(app)
        guard let expected = row.app else { return checkDefault(record, bench.table) }
        #expect(app == expected)
        #expect(record.repaired.isEmpty)
        let sent = try #require(Self.text(record.value(of: "c")))
        if let expected = row.sent { #expect(sent == expected) }
        // Seconds are sent whole.
        guard !row.column.contains("seconds") || app.hasSuffix("000") else { return }
        let back = try bench.down(sent)
        #expect(try Self.meaning(back) == Self.meaning(app))
        // An app whose values are spelled in the backend's way says the same.
        guard !row.column.contains("seconds") else { return }
        let pushed = try #require(Self.text(bench.up(row.value).value(of: "c")))
        let again = try bench.down(pushed)
        #expect(try Self.meaning(again) == Self.meaning(app))
    }

    /// A default that stands for a value that could not be read is not sent unless the user has entered it.
    private func checkDefault(_ record: SanitizedRecord, _ table: Table) {
        var untouched = record
        untouched.changed = ["title"]
        #expect(RecordSanitizer(table: table).withoutDefaults(untouched).values.map(\.column.name) == ["title"])
        untouched.changed = ["c"]
        #expect(RecordSanitizer(table: table).withoutDefaults(untouched).values.count == 2)
    }

    private static func meaning(_ json: String) throws -> JSONValue {
        let value = try JSONValue.parse(json)
        return value.double.map { .number($0) } ?? value
    }

    @Test(arguments: ["20250101", "20250101100000"])
    func `numbers of a backend may be dates, those of an app count`(_ digits: String) throws {
        var bench = Bench(SpellingTable.column("timestamp millis"))
        #expect(try bench.down(digits) == digits)
        #expect(try Self.text(bench.up(digits).value(of: "c")) == digits)
        bench = Bench(SpellingTable.column("timestamp"))
        #expect(try bench.down(digits) == (digits.count == 8 ? "1735689600000" : "1735725600000"))
        #expect(try bench.up(digits).value(of: "c")?.string != nil)
        #expect(try bench.up("20250101").value(of: "c")?.string == "1970-01-01T05:37:30.101Z")
    }

    @Test(arguments: [("true", "Y"), ("1", "Y"), (#""true""#, "Y"), (#""Y""#, "Y"), ("0", "N"), (#""off""#, "N")])
    func `an app's own words count beside the backend's`(value: String, sent: String) throws {
        let record = try Bench(SpellingTable.column("boolean Y/N")).up(value)
        #expect(record.value(of: "c")?.string == sent && record.repaired.isEmpty)
    }

    @Test func `a version that could not be read is unknown, and one that could is not`() throws {
        var column = SpellingTable.column("number")
        (column.isVersion, column.isReadonly) = (true, true)
        let bench = Bench(column)
        for (value, version) in [("0", nil), ("7", 7)] as [(String, Int64?)] {
            let record = RecordSanitizer(table: bench.table).withoutDefaults(try bench.up(value))
            #expect(record.version?.int64 == version && record.withheld.isEmpty)
        }
    }

    @Test func `the table has the rows of all stacks`() {
        #expect(SpellingTable.rows.count >= 120)
    }

    @Test func `a time without a zone counts as assumed unless its column has one`() throws {
        for (words, assumed) in [("timestamp", 1), ("timestamp utc", 0), ("timestamp berlin", 0)] {
            var bench = Bench(SpellingTable.column(words))
            _ = try bench.down(#""2025-01-01 10:00:00""#)
            _ = try bench.down(#""2025-01-01""#)
            #expect(bench.projector.counters.columnFaults.map(\.assumed) == (assumed == 0 ? [] : [assumed]))
        }
    }

    @Test func `an unreadable value is described by its record, column and shape, never by its content`() throws {
        var bench = Bench(SpellingTable.column("number"))
        for _ in 0..<10 { _ = try bench.down(#""Geheim 12,50 €""#) }
        let values = bench.projector.unreadable.values
        #expect(values.count == 3)
        #expect(values.allSatisfy { $0.id == "x" && $0.table == 0 && $0.column == 1 && $0.type == "T" })
        #expect(values.first?.shape == #"text "Aaaaaa 99,99 ?""#)
        #expect(bench.projector.counters.columnFaults.map(\.unreadable) == [10])
    }

    @Test func `a default of the configuration stands for what is missing or cannot be read`() throws {
        for value in [#""12,50""#, "null", "[]"] {
            var bench = Bench(SpellingTable.column("number default-7"))
            let app = try bench.down(value)
            #expect(app == "7")
        }
        var optional = Bench(SpellingTable.column("number? default-7"))
        let (missing, wrong) = (try optional.down("null"), try optional.down(#""12,50""#))
        #expect(missing == "null" && wrong == "7")
        #expect(Self.text(try optional.up("[]").value(of: "c")) == "7")
    }

    @Test func `the same value in another spelling has the same hash`() throws {
        for (column, spellings) in [
            ("number", ["12.5", #""12.50""#, #""+12.5""#, #"{"$numberDecimal":"12.5"}"#]),
            ("boolean", ["true", #""t""#, "1", #""\u0001""#]), ("string", [#""12""#, "12", #"{"$numberInt":"12"}"#]),
            ("timestamp", ["1735725600000", #""2025-01-01T10:00:00Z""#, #""Wed, 01 Jan 2025 10:00:00 GMT""#]),
        ] {
            var hashes: Set<UInt64> = []
            for spelling in spellings {
                var bench = Bench(SpellingTable.column(column))
                _ = try bench.down(spelling)
                hashes.insert(bench.projector.content)
            }
            #expect(hashes.count == 1, "\(column)")
        }
    }
}
