// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncModel
import Testing

@Suite struct ContentHashSampleTests {
    @Test func `records that differ in one digit are told apart, by every half of the hash`() {
        let count = 40_000
        var bench = ProjectionBench(
            .make("t", upsert: "TV1", columns: [.make("a", .number), .make("b", .string), .make("c", .number)]))
        var hashes: Set<UInt64> = []
        var low: Set<UInt32> = []
        var high: Set<UInt32> = []
        for number in 0..<count {
            bench.writer.removeAll()
            let (a, b) = (number % 200, number / 200)
            _ = bench.result(#"{"type":"TV1","data":{"id":"x","a":\#(a),"b":"row \#(b)","c":\#(b)}}"#)
            hashes.insert(bench.projector.content)
            low.insert(UInt32(truncatingIfNeeded: bench.projector.content))
            high.insert(UInt32(truncatingIfNeeded: bench.projector.content >> 32))
        }
        #expect(hashes.count == count)
        // Random halves would collide 0.2 times.
        #expect(low.count >= count - 4 && high.count >= count - 4)
    }

    @Test func `texts of all lengths are told apart, whatever stands at their ends`() {
        var hashes: Set<UInt64> = []
        for count in 0..<600 {
            for end in ["", #"\u0000"#, #"\u0001"#] {
                hashes.insert(
                    ContentHashTests.hash(.string, "\"" + String(repeating: #"\u0000"#, count: count) + end + "\""))
            }
        }
        // `count` NULs with one more at the end are the next one's.
        #expect(hashes.count == 601 + 600)
        var plain: Set<UInt64> = []
        for count in 0..<600 {
            plain.insert(ContentHashTests.hash(.string, "\"" + String(repeating: "a", count: count) + "\""))
        }
        #expect(plain.count == 600)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `json has one hash exactly where it has one canonical spelling`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var spellings: [[UInt8]: UInt64] = [:]
        var hashes: Set<UInt64> = []
        for _ in 0..<100 {
            let text = RandomLinesTests.value(1, &random)
            let value = try JSONValue.parse(text)
            guard !value.isNull else { continue }
            let spelled = [text, Self.respelled(value, &random), String(decoding: value.serialised, as: UTF8.self)]
            for text in spelled {
                let hash = ContentHashTests.hash(.json, text)
                #expect(spellings[value.canonical, default: hash] == hash, "\(text)")
                spellings[value.canonical] = hash
                hashes.insert(hash)
            }
        }
        #expect(hashes.count == spellings.count)
    }

    /// The same value with other white space, another order of members, and doubles for numbers.
    static func respelled(_ value: JSONValue, _ random: inout SeededGenerator) -> String {
        switch value {
        case .array(let elements): return "[ " + elements.map { respelled($0, &random) }.joined(separator: " ,") + "]"
        case .object(let members):
            let texts = members.shuffled(using: &random).map { member in
                String(decoding: JSONValue.string(member.name).serialised, as: UTF8.self) + ": "
                    + respelled(member.value, &random)
            }
            // The first of two members with one name does not count.
            let first = members.first.map {
                String(decoding: JSONValue.string($0.name).serialised, as: UTF8.self) + ":[]"
            }
            return "{" + ([first].compactMap { $0 } + texts).joined(separator: ",") + "\t}"
        case .number(let number):
            guard let double = number.double, double != 0 else { return number.spelling }
            return "\(double)"
        case .null, .bool, .string: return String(decoding: value.serialised, as: UTF8.self)
        }
    }

    @Test func `numbers are read as the nearest double, short ones too`() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<2_000 {
            // Integers end at 2^53.
            let digits = String(random.next() >> UInt64.random(in: 11..<64, using: &random))
            let point = Int.random(in: 1...digits.count, using: &random)
            let text = digits.prefix(point) + (point < digits.count ? "." + digits.dropFirst(point) : "")
            let isLong = text.hasPrefix("0") && text.count > 1 && !text.hasPrefix("0.")
            guard !isLong, let double = Double(String(text)) else { continue }
            let negative = Bool.random(using: &random) ? "-" : ""
            // With 20 digits more the value is the same and is read the long way.
            let long = "\(negative)\(text)\(text.contains(".") ? "" : ".")00000000000000000000"
            #expect(
                ContentHashTests.hash(.number, "\(negative)\(text)") == ContentHashTests.hash(.number, long),
                "\(text) \(double)")
        }
    }

    @Test func `deep and wide json is hashed without recursion`() {
        let deep = String(repeating: #"{"a":["#, count: 60) + "1" + String(repeating: "]}", count: 60)
        let other = String(repeating: #"{"a":["#, count: 60) + "2" + String(repeating: "]}", count: 60)
        #expect(ContentHashTests.hash(.json, deep) != ContentHashTests.hash(.json, other))
        let members = (0..<20_000).map { #""m\#($0)":\#($0)"# }
        let wide = ContentHashTests.hash(.json, "{" + members.joined(separator: ",") + "}")
        #expect(wide == ContentHashTests.hash(.json, "{" + members.reversed().joined(separator: ",") + "}"))
        #expect(wide != ContentHashTests.hash(.json, "{" + members.dropLast().joined(separator: ",") + "}"))
    }
}
