// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncModel
import Testing

@Suite struct PackedIDTests {
    static let uuid = "0197c5b2-31f0-7abc-8def-0123456789ab"

    static func packed(_ id: String) -> [UInt8] {
        var bytes: [UInt8] = [0x55]
        Array(id.utf8).withUnsafeBytes { PackedID.append($0, to: &bytes) }
        return Array(bytes.dropFirst())
    }

    @Test(
        arguments: [
            (uuid, 17), ("00000000-0000-0000-0000-000000000000", 17), ("ffffffff-ffff-ffff-ffff-ffffffffffff", 17),
            ("\(uuid).\(uuid)", 33), ("V1StGXR8_Z5jdHi6", 13), ("a", 2), ("-", 2), ("----", 4), ("1234567", 7),
            ("0123456789abcdefghijABCDEFGH", 22), ("0123456789abcdefghijABCDEFGHI", 24), (".a", 4), ("a.b", 5),
            // Not canonical: none of these may become the UUID.
            (uuid.uppercased(), 29), ("0197c5b2-31f0-7abc-8def-0123456789aB", 29),
            ("0197c5b2-31f0-7abc-8def-0123456789ag", 29), ("0197c5b2_31f0-7abc-8def-0123456789ab", 29),
            ("0197c5b2-31f0-7abc-8def-0123456789a.", 38), ("\(uuid)-\(uuid)", 57), ("\(uuid).\(uuid.uppercased())", 75),
            (String(repeating: "z", count: 255), 194), (String(repeating: ".", count: 255), 257),
        ])
    func `an id comes back from as many bytes as its form takes`(id: String, count: Int) {
        let packed = Self.packed(id)
        #expect(packed.count == count)
        #expect(PackedID.text(of: packed) == id)
        #expect(PackedID.text(of: packed + Array(repeating: 0xff, count: 20)) == id)
        #expect(packed[0] & 7 == 0)
    }

    @Test func `every safe character comes back from every place`() {
        let letters = (0...127 as ClosedRange<UInt8>).filter { RecordID.isSafe($0) }
        #expect(letters.count == 65)
        for letter in letters {
            for count in 1...20 {
                for place in 0..<count {
                    var id = Array(repeating: UInt8(ascii: "q"), count: count)
                    id[place] = letter
                    guard RecordID.isSafe(id) else { continue }
                    let text = String(decoding: id, as: UTF8.self)
                    #expect(PackedID.text(of: Self.packed(text)) == text)
                }
            }
        }
    }

    @Test func `bytes that are no letters are kept as they are and do not come back as an id`() {
        for byte in (0...255 as ClosedRange<UInt8>).filter({ !RecordID.isSafe($0) }) {
            for count in [1, 7, 8, 9, 16, 36] {
                for place in [0, count / 2, count - 1] {
                    var id = Array(repeating: UInt8(ascii: "e"), count: count)
                    id[place] = byte
                    var packed: [UInt8] = []
                    id.withUnsafeBytes { PackedID.append($0, to: &packed) }
                    #expect(Array(packed.dropFirst(2)) == id)
                    #expect(PackedID.text(of: packed) == nil)
                }
            }
        }
    }

    @Test func `different ids have different bytes`() {
        var random = SeededGenerator(seed: 5)
        var known: [[UInt8]: String] = [:]
        for _ in 0..<50_000 {
            let id = LedgerSupport.randomID(&random)
            let packed = Self.packed(id)
            #expect(known[packed] == nil || known[packed] == id)
            known[packed] = id
            #expect(PackedID.text(of: packed) == id)
            #expect(packed.withUnsafeBytes { PackedID.length(of: $0) } == packed.count)
        }
    }

    @Test func `a packed id that is cut is none`() {
        for id in [
            Self.uuid, "\(Self.uuid).\(Self.uuid)", "V1StGXR8_Z5jdHi6", "a.b", String(repeating: "z", count: 99),
        ] {
            let packed = Self.packed(id)
            for count in 0..<packed.count { #expect(PackedID.text(of: packed.prefix(count)) == nil) }
        }
    }

    @Test func `the lower bits of the first byte are not part of the id`() {
        var marked = Self.packed(Self.uuid)
        marked[0] |= 7
        #expect(PackedID.text(of: marked) == Self.uuid)
    }
}
