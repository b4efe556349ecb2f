// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import Testing

/// What comes of an object must not depend on the objects that were read before it.
@Suite struct MemberPatternTests {
    private static let names = ["id", "name", "at", "größe", "flag"]
    private static let table = NameTable(names)

    /// The values by the index of their name, or the error.
    private enum Outcome: Equatable {
        case values([String?])
        case failed(JSONError)
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, _ pattern: inout MemberPattern) -> Outcome {
        withUnsafeTemporaryAllocation(of: JSONSlice?.self, capacity: names.count) { slots in
            slots.initialize(repeating: nil)
            var scanner = JSONScanner(bytes)
            do throws(JSONError) {
                try pattern.readMembers(of: &scanner, in: table, targets: [4, 3, 2, 1, 0], into: slots)
                try scanner.finish()
            } catch { return .failed(error) }
            return .values(slots.reversed().map { $0?.spelling })
        }
    }

    /// The same by the calls for one member and one value.
    private static func readPlainly(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        var values: [String?] = Array(repeating: nil, count: names.count)
        var scanner = JSONScanner(bytes)
        do throws(JSONError) {
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                let value = try scanner.value()
                if let index = names.firstIndex(where: { name.equals($0) }) { values[index] = value.spelling }
            }
            try scanner.finish()
        } catch { return .failed(error) }
        return .values(values)
    }

    /// An object that resembles the others: members in one order as a rule, some left out, some spelled otherwise.
    private static func object(_ random: inout SeededGenerator) -> [UInt8] {
        func rarely() -> Bool { Int.random(in: 0..<12, using: &random) == 0 }
        var members = ["id", "other", "name", "at", "größe", "fl\\u0061g"].filter { _ in !rarely() }
        if rarely() { members.shuffle(using: &random) }
        if rarely() { members.append("name") }
        let values = ["1", "-2.5e3", #""text""#, "null", "true", "{}", #"[{"id":7}]"#, #""\"id\":""#]
        var text = "{"
        for (place, name) in members.enumerated() {
            if place > 0 { text += rarely() ? " , " : "," }
            text += "\"\(name)\"\(rarely() ? " :\t" : ":")\(values.randomElement(using: &random) ?? "0")"
        }
        return Array((text + "}").utf8)
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(bytes[place], at: place)
        case 2: bytes = Array(bytes.prefix(place))
        default: bytes[place] = Array("{}[]\",:\\0 ".utf8).randomElement(using: &random) ?? 0
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `an object is read as if no other had come before it`(seed: UInt64) throws {
        var random = SeededGenerator(seed: 3_000 + seed)
        let memory = try GuardedMemory(capacity: 1 << 12)
        var pattern = MemberPattern()
        for round in 0..<1_000 {
            var bytes = Self.object(&random)
            if round % 3 == 2 { Self.damage(&bytes, &random) }
            let held = memory.holding(bytes)
            #expect(
                Self.read(held, &pattern) == Self.readPlainly(held),
                "seed \(seed) round \(round): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    @Test(arguments: [
        #"{"id":1"name":2}"#, #"{,"name":2}"#, #"{"id":1,,"name":2}"#, #"{"id":1,"name":2,}"#, #"{"id":1,"id":2"#,
    ])
    func `bytes that were valid elsewhere are not accepted where they are wrong`(text: String) {
        var pattern = MemberPattern()
        for good in [#"{"id":1,"name":2}"#, #"{"name":2}"#, #"{"id":1}"#] {
            _ = Array(good.utf8).withUnsafeBytes { Self.read($0, &pattern) }
        }
        let outcome = Array(text.utf8).withUnsafeBytes { Self.read($0, &pattern) }
        guard case .failed = outcome else {
            Issue.record("\(text) was accepted")
            return
        }
    }

    @Test func `objects without any order are read for as long as they come`() {
        var random = SeededGenerator(seed: 9)
        var pattern = MemberPattern()
        for round in 0..<2_000 {
            let members = (0..<9).map { "\"m\(round)-\($0)\":0" } + Self.names.map { "\"\($0)\":\(round)" }
            let text = "{\(members.shuffled(using: &random).joined(separator: ","))}"
            let outcome = Array(text.utf8).withUnsafeBytes { Self.read($0, &pattern) }
            #expect(outcome == .values(Self.names.map { _ in "\(round)" }))
        }
    }
}
