// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncModel
import Testing

@Suite struct SipHashTests {
    /// The key 00 01 … 0f of the paper.
    static let key = SipHash.Key(bytes: 0..<16 as Range<UInt8>)

    /// The messages of the reference are empty, 00, 00 01, 00 01 02 and so on.
    static func message(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0) } }

    @Test func `the example of the paper's appendix comes out`() throws {
        let key = try #require(Self.key)
        #expect(Self.message(15).withUnsafeBytes { SipHash.hash64($0, key: key) } == 0xa129_ca61_49be_45e5)
    }

    @Test(
        arguments: [
            (0, 0x726f_db47_dd0e_0e31), (1, 0x74f8_39c5_93dc_67fd), (2, 0x0d6c_8009_d9a9_4f5a),
            (3, 0x8567_6696_d7fb_7e2d),
            (7, 0xab02_00f5_8b01_d137), (8, 0x93f5_f579_9a93_2462), (9, 0x9e00_82df_0ba9_e4b0),
            (16, 0x3f2a_cc7f_57c2_9bdb),
            (40, 0x0e3e_a96b_5304_a7d0), (63, 0x958a_324c_eb06_4572),
        ] as [(Int, UInt64)])
    func `64 bits are those of the reference vectors`(count: Int, hash: UInt64) throws {
        let key = try #require(Self.key)
        #expect(Self.message(count).withUnsafeBytes { SipHash.hash64($0, key: key) } == hash)
    }

    /// Computed with another program, whose hashes of a few texts are those of CPython 3.11 with an empty key.
    @Test(
        arguments: [
            (0, 0xabac_0158_050f_c4dc), (1, 0xc9f4_9bf3_7d57_ca93), (2, 0x82cb_9b02_4dc7_d44d),
            (3, 0x8bf8_0ab8_e7dd_f7fb), (7, 0xd392_7d98_9bb1_1140), (8, 0x3690_9511_8d29_9a8e),
            (9, 0x25a4_8eb3_6c06_3de4), (16, 0xcc4f_dd1a_7d90_8b66), (40, 0xc1d2_3632_99e4_1531),
            (63, 0x9d19_9062_b7bb_b3a8),
        ] as [(Int, UInt64)])
    func `the short variant is SipHash-1-3`(count: Int, hash: UInt64) throws {
        let key = try #require(Self.key)
        #expect(Self.message(count).withUnsafeBytes { SipHash.hash64($0, key: key, .short) } == hash)
    }

    @Test(arguments: [
        (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
        (2, "8177228da4a45dc7fca38bdef60affe4"), (3, "9c70b60c5267a94e5f33b6b02985ed51"),
        (4, "f88164c12d9c8faf7d0f6e7c7bcd5579"), (5, "1368875980776f8854527a07690e9627"),
        (6, "14eeca338b208613485ea0308fd7a15e"), (7, "a1f1ebbed8dbc153c0b84aa61ff08239"),
        (8, "3b62a9ba6258f5610f83e264f31497b4"), (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
    ])
    func `128 bits are those of the reference vectors`(count: Int, hexadecimal: String) throws {
        let key = try #require(Self.key)
        let hash = Self.message(count).withUnsafeBytes { SipHash.hash128($0, key: key) }
        let bytes = [hash.low, hash.high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
        let text = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(text == hexadecimal)
    }

    @Test func `a key has 16 bytes`() {
        #expect(SipHash.Key(bytes: [1, 2, 3]) == nil)
        #expect(SipHash.Key(bytes: [1] + Array(repeating: 0, count: 15)) == SipHash.Key(1, 0))
        #expect(SipHash.Key(bytes: Array(repeating: 0, count: 15) + [1]) == SipHash.Key(0, 1 << 56))
    }

    @Test func `an id's hash depends on id and key`() {
        let hash = IDHash(id: "abc", key: SipHash.Key(1, 2))
        #expect(hash == IDHash(id: "abc", key: SipHash.Key(1, 2)))
        #expect(hash != IDHash(id: "abd", key: SipHash.Key(1, 2)))
        #expect(hash != IDHash(id: "abc", key: SipHash.Key(1, 3)))
        #expect(IDHash(low: 9, high: 1) < IDHash(low: 0, high: 2))
        #expect(IDHash(low: 1, high: 1) < IDHash(low: 2, high: 1))
    }
}
