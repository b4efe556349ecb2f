// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes
import Testing

/// Random documents, valid ones and ones that were damaged.
struct DocumentGenerator {
    var random: SeededGenerator

    mutating func document() -> [UInt8] {
        var bytes: [UInt8] = []
        value(depth: 0, into: &bytes)
        return bytes
    }

    mutating func mutated() -> [UInt8] {
        var bytes = document()
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: 0...max(bytes.count - 1, 0), using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes.insert(interestingByte(), at: min(place, bytes.count))
            case 1 where !bytes.isEmpty: bytes.remove(at: place)
            case 2 where !bytes.isEmpty: bytes[place] = interestingByte()
            case 3: bytes = Array(bytes.prefix(place))
            default: bytes.append(contentsOf: bytes.suffix(place % 7))
            }
        }
        return bytes
    }

    private mutating func interestingByte() -> UInt8 {
        let favourites = Array("{}[]\",:\\u0dDe19-+.tfn \n\u{0}".utf8) + [0x80, 0xc3, 0xed, 0xf4, 0xff]
        return Bool.random(using: &random)
            ? favourites[Int.random(in: 0..<favourites.count, using: &random)]
            : UInt8.random(in: 0...255, using: &random)
    }

    private mutating func value(depth: Int, into bytes: inout [UInt8]) {
        space(&bytes)
        switch Int.random(in: 0..<(depth > 5 ? 5 : 7), using: &random) {
        case 0: bytes += Array("null".utf8)
        case 1: bytes += Array((Bool.random(using: &random) ? "true" : "false").utf8)
        case 2: number(&bytes)
        case 3, 4: string(&bytes)
        case 5:
            list("[", "]", &bytes) { $0.value(depth: depth + 1, into: &$1) }
        default:
            list("{", "}", &bytes) {
                $0.string(&$1)
                $0.space(&$1)
                $1.append(UInt8(ascii: ":"))
                $0.value(depth: depth + 1, into: &$1)
            }
        }
        space(&bytes)
    }

    private mutating func list(
        _ opening: String, _ closing: String, _ bytes: inout [UInt8], _ item: (inout Self, inout [UInt8]) -> Void
    ) {
        bytes += Array(opening.utf8)
        for index in 0..<Int.random(in: 0..<5, using: &random) {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            space(&bytes)
            item(&self, &bytes)
        }
        space(&bytes)
        bytes += Array(closing.utf8)
    }

    private mutating func space(_ bytes: inout [UInt8]) {
        while Int.random(in: 0..<6, using: &random) == 0 {
            bytes.append(Array(" \n\r\t".utf8)[Int.random(in: 0..<4, using: &random)])
        }
    }

    private mutating func number(_ bytes: inout [UInt8]) {
        if Bool.random(using: &random) { bytes.append(UInt8(ascii: "-")) }
        bytes += Array(
            String(UInt64.random(in: 0...(1 << Int.random(in: 0...60, using: &random)), using: &random)).utf8)
        if Int.random(in: 0..<3, using: &random) == 0 {
            bytes += Array(".\(Int.random(in: 0...99999, using: &random))".utf8)
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            let mark = ["e", "E", "e+", "E-"][Int.random(in: 0..<4, using: &random)]
            bytes += Array("\(mark)\(Int.random(in: 0...200, using: &random))".utf8)
        }
    }

    private mutating func string(_ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for _ in 0..<Int.random(in: 0..<20, using: &random) {
            let pieces = [
                "abc", "x", "é", "日本", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\uD83D\\uDE00", "\\u00e9", " ",
            ]
            bytes += Array(pieces[Int.random(in: 0..<pieces.count, using: &random)].utf8)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

@Suite struct DifferentialTests {
    /// What Foundation makes of a document, nil where it refuses it.
    static func foundation(_ bytes: [UInt8]) -> Any? {
        try? JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])
    }

    static func same(_ value: JSONValue, _ other: Any) -> Bool {
        switch value {
        case .null: return other is NSNull
        case .bool(let bool): return (other as? NSNumber)?.boolValue == bool
        case .number(let number):
            guard let left = number.double, let right = (other as? NSNumber)?.doubleValue else { return false }
            // Foundation goes through decimal numbers of 38 digits and rounds twice.
            return abs(left - right) <= abs(left) * 1e-14
        case .string(let text): return (other as? String).map { Array($0.utf8) } == Array(text.utf8)
        case .array(let elements):
            guard let others = other as? [Any], others.count == elements.count else { return false }
            return zip(elements, others).allSatisfy { same($0, $1) }
        case .object(let members):
            // Foundation's dictionaries take names of different normal forms for one; the generator makes none.
            guard let others = other as? [String: Any], others.count == members.count else { return false }
            return members.allSatisfy { member in others[member.name].map { same(member.value, $0) } ?? false }
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `random documents mean the same to Foundation`(seed: UInt64) throws {
        var generator = DocumentGenerator(random: SeededGenerator(seed: seed))
        for round in 0..<100 {
            let bytes = generator.document()
            let value = try JSONValue.parse(bytes)
            let other = try #require(Self.foundation(bytes), "seed \(seed) round \(round)")
            #expect(Self.same(value, other), "seed \(seed) round \(round): \(String(decoding: bytes, as: UTF8.self))")
            #expect(try JSONValue.parse(value.serialised) == value)
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `damaged documents are accepted only where Foundation accepts them`(seed: UInt64) throws {
        var generator = DocumentGenerator(random: SeededGenerator(seed: 1000 + seed))
        for round in 0..<400 {
            let bytes = generator.mutated()
            let error = outcome(of: bytes)
            let other = Self.foundation(bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            if error == nil, other == nil {
                // Foundation refuses what the grammar leaves open; this is all of it.
                let leftOpen = /\\u[dD][89a-fA-F]|[0-9][eE]/
                #expect(text.contains(leftOpen), "seed \(seed) round \(round): \(text)")
            } else if error != nil, other != nil {
                // Foundation looks for other encodings and skips a byte order mark.
                #expect(bytes.contains(0), "seed \(seed) round \(round): \(text)")
            }
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `nothing is read behind the end, whatever the bytes`(seed: UInt64) throws {
        let memory = try GuardedMemory(capacity: 1 << 16)
        var generator = DocumentGenerator(random: SeededGenerator(seed: 2000 + seed))
        for _ in 0..<1500 {
            let bytes = memory.holding(generator.mutated())
            guard let slice = try? JSONScanner.document(bytes) else { continue }
            var writer = JSONWriter()
            Self.touch(slice, &writer)
            #expect(writer.bytes.withUnsafeBytes { (try? JSONScanner.document($0)) != nil })
        }
    }

    @Test func `every prefix of a document ends cleanly at the end of its page`() throws {
        let memory = try GuardedMemory(capacity: 1 << 12)
        let text =
            #"{"type":"AssetV2\n","data":{"a":[1.5e3,-0,true,false,null],"é😀":"\ud83d\ude00 \uD800"},"ack":"x|y"}"#
        let document = Array(text.utf8)
        for count in 0..<document.count {
            let prefix = Array(document.prefix(count))
            #expect(throws: JSONError.self) { try JSONScanner.document(memory.holding(prefix)) }
        }
        #expect(try JSONScanner.document(memory.holding(document)).kind == .object)
    }

    /// Reads everything that can be read of a value and writes it as an array of its parts.
    static func touch(_ slice: JSONSlice, _ writer: inout JSONWriter) {
        writer.append(raw: "[")
        writer.append(slice)
        writer.append(raw: ",")
        writer.append(jsonTextOf: slice)
        if let text = slice.string {
            writer.append(raw: ",")
            writer.append(string: text)
        }
        if let number = slice.double {
            writer.append(raw: ",")
            writer.append(number)
        }
        slice.forEachElement {
            writer.append(raw: ",")
            touch($0, &writer)
        }
        slice.forEachMember { name, value in
            writer.append(raw: ",")
            touch(name, &writer)
            writer.append(raw: ",")
            touch(value, &writer)
        }
        writer.append(raw: "]")
    }
}
