// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import Testing

@Suite struct PackedIDTableTests {
    private static func empty() -> PackedIDs { PackedIDs(key: SipHash.Key(1, 2)) }

    @Test func `it says what a dictionary says, whatever is set, set again and taken away`() {
        var ids = Self.empty()
        var model: [[String]: String] = [:]
        var state: UInt64 = 7
        func random(_ limit: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % limit
        }
        for step in 0..<20_000 {
            let (table, id) = (Int(random(3)), "\(random(3_000))")
            let value: String? = random(4) == 0 ? nil : String(repeating: "x", count: Int(random(9)) + 1) + "\(step)"
            ids.set(table: table, id: id, to: value)
            model[["\(table)", id]] = value
        }
        #expect(ids.count == model.count)
        for table in 0..<3 {
            for id in 0..<3_000 { #expect(ids[table, "\(id)"] == model[["\(table)", "\(id)"]]) }
        }
        #expect(ids[3, "1"] == nil)
    }

    @Test func `an id that is empty, too long or of no table is not taken`() {
        var ids = Self.empty()
        ids.set(table: 0, id: "", to: "a")
        ids.set(table: 0, id: String(repeating: "x", count: 256), to: "a")
        ids.set(table: 0, id: "a", to: String(repeating: "x", count: 256))
        ids.set(table: 0, id: "a", to: "")
        ids.set(table: 1 << 16, id: "a", to: "b")
        #expect(ids.count == 0)
        ids.set(table: 65_535, id: String(repeating: "x", count: 255), to: String(repeating: "y", count: 255))
        #expect(ids.count == 1)
        #expect(ids[65_535, String(repeating: "x", count: 255)]?.count == 255)
    }

    @Test func `a hundred thousand integer ids of 16 letters each take less than 48 bytes each`() {
        var ids = Self.empty()
        for id in 0..<100_000 { ids.set(table: 3, id: "\(id)", to: "abcdefghij\(100_000 + id)") }
        #expect(ids.byteCount < 48 * ids.count)
    }
}
