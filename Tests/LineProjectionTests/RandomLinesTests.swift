// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel
import Testing

@Suite struct RandomLinesTests {
    static let table = Table.make(
        "t", upsert: "TV1", "TV2",
        columns: ColumnType.allCases.flatMap { type -> [Column] in
            [
                .make(type.rawValue, type, .at("a"), .at("b.c"), .at("d.0")),
                .make(type.rawValue + "_optional", type, optional: true, .at("e", in: "TV1"), .at("b")),
            ]
        }
    ).with(deletes: [
        .init(type: "TDeleteV1", target: .by([Path(name: "id")], all: false)),
        .init(type: "TSweepV1", target: .whereColumn("string", equals: Path(name: "a"))),
    ])

    static func value(_ depth: Int, _ random: inout SeededGenerator) -> String {
        let leaves = [
            "null", "true", "false", "0", "1", "-0", "2.50", "1e400", "12345678901234567890", #""""#, #""text""#,
            #""é😀""#,
            #""\ud800\n\"""#, #""2026-01-02T03:04:05.678Z""#, #""a/b""#, #""id-1""#, "-7", #""\u0000""#,
        ]
        switch Int.random(in: 0..<(depth > 3 ? 4 : 6), using: &random) {
        case 4:
            let elements = (0..<Int.random(in: 0..<3, using: &random)).map { _ in value(depth + 1, &random) }
            return "[ " + elements.joined(separator: " , ") + "]"
        case 5: return object(depth + 1, &random)
        default: return leaves[Int.random(in: 0..<leaves.count, using: &random)]
        }
    }

    static func object(_ depth: Int, _ random: inout SeededGenerator) -> String {
        let names = ["id", "a", "b", "c", "d", "e", "f", #"\u0061"#]
        let members = (0..<Int.random(in: 0..<8, using: &random)).map { _ in
            "\"\(names[Int.random(in: 0..<names.count, using: &random)])\": \(value(depth, &random))"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    static func line(_ random: inout SeededGenerator) -> [UInt8] {
        let types = ["TV1", "TV2", "TDeleteV1", "TSweepV1", "SyncAckV1", "SyncCompleteV1", "Other"]
        var members = [
            "\"type\":\"\(types[Int.random(in: 0..<types.count, using: &random)])\"",
            "\"data\":\(Bool.random(using: &random) ? object(0, &random) : value(0, &random))",
            "\"ack\":\"N\(Int.random(in: 0..<5, using: &random))|\(Int.random(in: 0..<99, using: &random))\"",
        ]
        if Int.random(in: 0..<4, using: &random) == 0 { members.shuffle(using: &random) }
        if Int.random(in: 0..<6, using: &random) == 0 { members.removeLast() }
        var line = Array(("{" + members.joined(separator: ",") + "}").utf8)
        if Int.random(in: 0..<3, using: &random) == 0 {
            let place = Int.random(in: 0..<line.count, using: &random)
            line[place] = UInt8.random(in: 0...255, using: &random)
        }
        return line
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func `everything that is written parses and has the client's types`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bench = ProjectionBench(Self.table)
        for round in 0..<400 {
            let line = Self.line(&random)
            let (result, text) = bench.project(line)
            let place = "seed \(seed) round \(round): \(String(decoding: line, as: UTF8.self))"
            switch result {
            case .upsert(_, _, let id, let range):
                #expect(range == bench.writer.count - text.utf8.count..<bench.writer.count, "\(place)")
                let record = try JSONValue.parse(text)
                #expect(record["id"]?.string.map { IDHash(id: $0, key: ProjectionBench.key) } == id, "\(place)")
                #expect(record["id"]?.string.map { RecordID.isSafe($0) } == true, "\(place)")
                #expect(record.members?.map(\.name) == ["id"] + Self.table.columns.map(\.name), "\(place)")
                for column in Self.table.columns { Self.check(record[column.name], column, place) }
            case .delete(_, _, _, let id, _):
                #expect(
                    try JSONValue.parse(text).string.map { IDHash(id: $0, key: ProjectionBench.key) } == id, "\(place)")
            case .deleteWhere: #expect(try JSONValue.parse(text).string != nil, "\(place)")
            case .ackOnly, .idMapping, .complete, .reset, .unknownType, .quarantined:
                #expect(text.isEmpty, "\(place)")
            }
        }
    }

    static func check(_ value: JSONValue?, _ column: Column, _ place: String) {
        guard let value, !value.isNull else {
            #expect(value != nil && column.isOptional, "\(place)")
            return
        }
        switch column.type {
        case .string, .json: #expect(value.string != nil, "\(place)")
        case .number: #expect(value.double != nil && value.number?.spelling.hasPrefix("-0") != true, "\(place)")
        case .timestamp: #expect(value.int64 != nil, "\(place)")
        case .boolean: #expect(value.bool != nil, "\(place)")
        }
    }

    @Test func `the same values come out whatever the order of members`() {
        var random = SeededGenerator(seed: 77)
        for _ in 0..<200 {
            let members = ["a", "b", "d", "e"].map { "\"\($0)\":\(Self.value(0, &random))" } + [#""id":"x""#]
            var texts: Set<String> = []
            for _ in 0..<4 {
                var bench = ProjectionBench(Self.table)
                let data = members.shuffled(using: &random).joined(separator: ",")
                texts.insert(bench.text(#"{"type":"TV1","data":{\#(data)}}"#))
                texts.insert(bench.text(#"{"data":{\#(data)},"type":"TV1"}"#))
            }
            #expect(texts.count == 1)
        }
    }

    @Test func `the id rule for bytes in memory is the one for collections`() {
        var samples: [[UInt8]] = [[], [0x2e], [0x2e, 0x2e], [0x2e, 0x2e, 0x2e], [0x2e, 0x61], [0x61, 0x2e]]
        for byte in 0...255 as ClosedRange<UInt8> {
            samples += [[byte], [0x61, byte, 0x61], [byte, 0x2e]]
        }
        // Bytes are looked at eight at a time, with an overlap at the end.
        for count in 7...17 {
            for place in 0..<count {
                for byte in 0...255 as ClosedRange<UInt8> {
                    var sample = Array(repeating: UInt8(ascii: "a"), count: count)
                    sample[place] = byte
                    samples.append(sample)
                }
            }
        }
        for count in [255, 256] { samples.append(Array(repeating: 0x61, count: count)) }
        for sample in samples {
            #expect(sample.withUnsafeBytes { RecordID.isSafe($0) } == RecordID.isSafe(sample), "\(sample)")
            var part: [UInt8] = []
            var same: [UInt8] = []
            sample.withUnsafeBytes { RecordID.appendPart($0, to: &part) }
            RecordID.appendPart(sample, to: &same)
            #expect(part == same)
        }
    }
}
