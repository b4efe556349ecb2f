// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel
import Testing

@Suite struct ContentHashTests {
    /// The hash of a record with these columns and this data.
    static func hash(
        _ columns: [Column], _ data: String, key: SipHash.Key = ProjectionBench.key, version: Int = 1
    ) -> UInt64 {
        let schema = Schema(version: version, tables: [.make("t", upsert: "TV1", columns: columns)])
        var projector = LineProjector(Projection(schema: schema, schemaVersion: version), key: key)
        var output = JSONWriter()
        let line = Array(#"{"type":"TV1","data":{"id":"x"\#(data.isEmpty ? "" : ",")\#(data)},"ack":"TV1|1"}"#.utf8)
        let result = line.withUnsafeBytes { projector.project($0, into: &output) }
        guard case .upsert = result else {
            Issue.record("\(data): \(result)")
            return 0
        }
        return projector.content
    }

    /// The hash of a record with one column that has this value; nil for the value is none.
    static func hash(_ type: ColumnType, optional: Bool = true, _ value: String?) -> UInt64 {
        hash([.make("c", type, optional: optional)], value.map { #""c":\#($0)"# } ?? "")
    }

    static let nothing = hash([], "")

    @Test(
        arguments: [
            (.string, [#""é😀/""#, #""\u00e9\ud83d\ude00\/""#, #""\u00E9😀/""#]),
            (.string, [#""a\n""#, #""\u0061\u000a""#]),
            // What goes out for half a surrogate pair is U+FFFD.
            (.string, [#""\ud800x""#, #""\udc00x""#, "\"\u{fffd}x\""]),
            (.number, ["1", "1.0", "1e0", "10e-1", "0.1E+1", "1.000000000000000000000000000000"]),
            (.number, ["0", "-0", "0.0", "-0.0", "0e5", "1e-400", "-1e-400"]),
            (.number, ["0.1", "1e-1", "0.10", "0.1000000000000000055511151231257827"]),
            (.number, ["-12345.678", "-1.2345678e4", "-12345678e-3"]),
            (.number, ["1.2345678901234567890e19", "12345678901234567000.0", #""12345678901234567890.0""#]),
            (.number, ["1.5", #""1.50""#, #"" +1.5""#, #"{"$numberDecimal":"1.5"}"#]), (.number, ["1", "true"]),
            (.string, [#""12""#, "12", #"{"$numberInt":"12"}"#]), (.boolean, [#""t""#, #""TRUE""#, "true"]),
            (.number, ["999999999999999", "999999999999999.0"]),
            (.boolean, ["true", "1", "1.0", "10e-1"]), (.boolean, ["false", "0", "-0", "0.0"]),
            (
                .timestamp,
                [
                    #""2026-01-02T03:04:05.678Z""#, "1767323045678", "1767323045678.9",
                    #""2026-01-02T04:04:05.6780+01""#,
                    "1.767323045678e12", #""2026\u002d01-02 03:04:05,678""#,
                ]
            ),
            (
                .json,
                [
                    #"{"a":[1,"é"],"b":{"c":null,"d":true}}"#, #"{"b":{"d":true,"c":null},"a":[1.0,"\u00e9"]}"#,
                    #" { "a" : [ 1e0 , "é" ] , "b" : { "c":null, "d":true } } "#,
                    #"{"a":0,"b":{"d":1,"c":null,"d":true},"\u0061":[1,"é"]}"#,
                ]
            ),
            (.json, ["[-0,100]", "[0,1e2]", "[ 0.0 , 100.0 ]"]), (.json, ["{}", "{ }"]), (.json, ["7", "7.0"]),
        ] as [(ColumnType, [String])])
    func `all spellings of a value have one hash`(type: ColumnType, spellings: [String]) {
        for isOptional in [true, false] {
            let hashes = spellings.map { Self.hash(type, optional: isOptional, $0) }
            #expect(Set(hashes).count == 1, "\(spellings) \(hashes)")
        }
    }

    @Test(
        arguments: [
            (
                .string,
                [
                    #""""#, #""a""#, #""A""#, #""ab""#, #""a ""#, #""\u0000""#, #""\u0000\u0000""#, #""é""#,
                    #""e\u0301""#,
                    #""null""#, #""12345678""#, #""123456789""#, #""1234567""#,
                ]
            ),
            (
                .number,
                [
                    "0", "1", "-1", "10", "0.1", "0.10000000000000002", "1e300", "9007199254740992",
                    "9007199254740994.0",
                    "5e-324", "123456789012345", "1234567890123456", "12345678.9", "1.23456789",
                ]
            ),
            (.boolean, ["true", "false"]), (.timestamp, ["0", "1", "-1", #""2026-01-02""#]),
            (
                .json,
                [
                    "true", "false", "0", "1", #""""#, #""1""#, #""true""#, #""null""#, "[]", "[null]", "[[]]",
                    "[[],[]]", "{}",
                    "[{}]",
                    #"{"a":null}"#, #"{"":null}"#, #"{"a":1}"#, #"{"b":1}"#, "[1,2]", "[2,1]", "[[1],2]", "[1,[2]]",
                    "[1,2,[]]",
                    #"{"a":{"b":1}}"#, #"{"a":1,"b":1}"#, #"{"a":{},"b":1}"#, #"{"a":{"a":1,"b":1}}"#, #"["a",1]"#,
                    "1e400",
                    "1e401",
                ]
            ),
        ] as [(ColumnType, [String])])
    func `different values have different hashes`(type: ColumnType, values: [String]) {
        let hashes = Set(values.map { Self.hash(type, $0) } + [Self.hash(type, "null")])
        #expect(hashes.count == values.count + 1)
    }

    @Test func `a value counts by its type and its column`() {
        var hashes: Set<UInt64> = []
        for name in ["c", "d", "column_of_a_long_name", "column_of_a_long_namf"] {
            for type in [ColumnType.string, .number, .boolean, .json] {
                for value in [#""1""#, "1", "true"] {
                    hashes.insert(Self.hash([.make(name, type, optional: true, .at("v"))], #""v":\#(value)"#))
                }
            }
        }
        // Per name: two texts, one number and one boolean from three values, and three of JSON.
        #expect(hashes.count == 4 * 7)
    }

    @Test func `neither the order of members nor that of columns counts`() {
        var columns: [Column] = [
            .make("a", .string), .make("b", .number), .make("c", .json, optional: true), .make("d", .timestamp),
        ]
        var members = [#""a":"x""#, #""b":2"#, #""c":[1]"#, #""d":5"#]
        var random = SeededGenerator(seed: 3)
        let expected = Self.hash(columns, members.joined(separator: ","))
        for _ in 0..<30 {
            columns.shuffle(using: &random)
            members.shuffle(using: &random)
            #expect(Self.hash(columns, members.joined(separator: ",")) == expected)
        }
    }

    @Test func `a value that moves to another column is a change`() {
        let columns: [Column] = [.make("a", .string), .make("b", .string)]
        let hashes = Set(
            [#""a":"x","b":"y""#, #""a":"y","b":"x""#, #""a":"xy""#, #""b":"xy""#, #""a":"x""#, #""b":"x""#].map {
                Self.hash(columns, $0)
            })
        #expect(hashes.count == 6)
    }

    @Test(arguments: [true, false], ColumnType.allCases)
    func `an added column at its default changes nothing`(isOptional: Bool, type: ColumnType) {
        let old: [Column] = [.make("name", .string)]
        let added = old + [.make("c", type, optional: isOptional)]
        let expected = Self.hash(old, #""name":"N""#)
        var values = [nil, "null"]
        // A value of the wrong type becomes the default, and any value fits a json column.
        if type != .json { values.append("[]") }
        let explicit: [ColumnType: [String]] = [
            .string: [#""""#], .number: ["0", "-0.0"], .boolean: ["false", "0"],
            .timestamp: ["0", #""1970-01-01""#],
        ]
        if !isOptional { values += explicit[type] ?? [] }
        for value in values {
            #expect(Self.hash(added, #""name":"N""# + (value.map { #","c":\#($0)"# } ?? "")) == expected)
        }
        guard isOptional else { return }
        for value in explicit[type] ?? [] { #expect(Self.hash(added, #""name":"N","c":\#(value)"#) != expected) }
    }

    @Test func `constants and the type of the line count like values that came`() {
        func fixed(_ type: ColumnType, _ source: Column.Source, optional: Bool = false) -> UInt64 {
            Self.hash([.make("c", type, optional: optional, source)], "")
        }
        #expect(fixed(.string, .lineType) == Self.hash(.string, #""TV1""#))
        #expect(fixed(.string, .literal(.string("a\"é"))) == Self.hash(.string, #""a\"é""#))
        #expect(fixed(.number, .literal(.number(2.5))) == Self.hash(.number, "2.5"))
        #expect(fixed(.boolean, .literal(.boolean(true))) == Self.hash(.boolean, "true"))
        #expect(fixed(.timestamp, .literal(.string("2026-01-02"))) == Self.hash(.timestamp, #""2026-01-02""#))
        #expect(fixed(.json, .literal(.string(#"{"b":1, "a":[]}"#))) == Self.hash(.json, #"{"a":[],"b":1.0}"#))
        #expect(fixed(.json, .literal(.number(3))) == Self.hash(.json, "3"))
        #expect(fixed(.json, .literal(.string("no JSON"))) != Self.nothing)
        for type in ColumnType.allCases { #expect(fixed(type, .literal(.string(""))) == Self.nothing) }
        #expect(fixed(.number, .literal(.number(0))) == Self.nothing)
        #expect(fixed(.number, .literal(.number(0)), optional: true) == Self.hash(.number, "0"))
        // A constant of the wrong type is the default.
        #expect(fixed(.boolean, .literal(.number(2)), optional: true) == Self.nothing)
    }

    @Test func `what the client does not get does not count`() {
        let columns: [Column] = [.make("a", .string), .make("b", .string, since: 2), .make("_status", .string)]
        let data = #""a":"x","b":"y","_status":"z","other":1"#
        #expect(Self.hash(columns, data) == Self.hash([.make("a", .string)], #""a":"x""#))
        #expect(Self.hash(columns, data, version: 2) == Self.hash([columns[0], .make("b", .string)], data))
        #expect(Self.hash(columns, data, version: 2) != Self.hash(columns, data))
    }

    @Test func `the key of the deployment counts`() {
        let keys = [SipHash.Key(1, 2), SipHash.Key(1, 3), SipHash.Key(2, 2)]
        #expect(Set(keys.map { Self.hash([.make("c", .string)], #""c":"x""#, key: $0) }).count == 3)
        #expect(Set(keys.map { Self.hash([.make("c", .json)], #""c":{"a":1}"#, key: $0) }).count == 3)
        #expect(Set(keys.map { Self.hash([], "", key: $0) }).count == 3)
    }

    /// Computed by another program from the definition, but for the last one, whose inner hash is taken as it is.
    ///
    /// They must not change: under other hashes every record of every device would be sent once more.
    @Test(
        arguments: [
            ([], 0x8628_af35_e1cb_a77b), ([0], 0xc319_cfad_85cf_5007), ([1], 0x8c11_1b44_d804_c7b8),
            ([2], 0xe806_0f87_8c54_fff5), ([3], 0x2402_ed45_01e8_bad0), ([4], 0x8a1d_e3ef_f7b6_97de),
            ([5], 0x7697_0bda_8227_0bc5), ([0, 1, 2, 3, 4], 0xccaf_0ed7_5c99_cc76),
        ] as [([Int], UInt64)])
    func `hashes are those of the definition`(members: [Int], hash: UInt64) {
        let columns: [Column] = [
            .make("Name", .string, .at("name")), .make("a_longer_column_name", .string), .make("width", .number),
            .make("is_favorite", .boolean), .make("taken_at", .timestamp), .make("settings", .json),
        ]
        let renamed = columns.map { column in
            var column = column
            if column.name == "Name" { column.name = "name" }
            return column
        }
        let data = [
            #""name":"Ünder""#, #""a_longer_column_name":"The quick brown fox jumps""#, #""width":4032.5"#,
            #""is_favorite":true"#, #""taken_at":"2026-01-02T03:04:05.678Z""#,
            #""settings":{"b":{"":{},"c":1.5},"a":[1,"x",null,true]}"#,
        ]
        #expect(Self.hash(renamed, members.map { data[$0] }.joined(separator: ",")) == hash)
        if members.contains(0) { #expect(Self.hash(columns, members.map { data[$0] }.joined(separator: ",")) != hash) }
    }

    @Test func `no record is hashed where no ledger needs it`() {
        var table = Table.make("t", upsert: "TV1", columns: [.make("p", .string)])
        table.parents = [.init(column: "p", table: "t")]
        let line = #"{"type":"TV1","data":{"id":"x","p":"y"}}"#
        var bench = ProjectionBench(table)
        _ = bench.text(line)
        #expect(
            bench.projector.content != 0 && bench.projector.links == [IDHash(id: "y", key: ProjectionBench.key).link])
        bench.projector.needsContent = false
        #expect(bench.text(line) == #"{"id":"x","p":"y"}"#)
        #expect(bench.projector.content == 0 && bench.projector.links.isEmpty)
        table.isLedgered = false
        bench = ProjectionBench(table)
        #expect(bench.text(line) == #"{"id":"x","p":"y"}"#)
        #expect(bench.projector.content == 0 && bench.projector.links.isEmpty)
    }
}
