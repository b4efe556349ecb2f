// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// SipHash-2-4 by Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), and its 128-bit variant.
///
/// Keyed, so that nobody who chooses record ids can make two of them collide.
package struct SipHash: Sendable {
    /// The secret of a deployment.
    package struct Key: Hashable, Sendable {
        let low: UInt64
        let high: UInt64

        /// A key of two words, the first eight bytes of it as a little-endian number, and the other eight.
        package init(_ low: UInt64, _ high: UInt64) {
            self.low = low
            self.high = high
        }

        /// A key of 16 bytes; nil for any other count.
        package init?(bytes: some Collection<UInt8>) {
            guard bytes.count == 16 else { return nil }
            let words = bytes.enumerated().reduce(into: [0, 0] as [UInt64]) {
                $0[$1.offset / 8] |= UInt64($1.element) << UInt64($1.offset % 8 * 8)
            }
            self.init(words[0], words[1])
        }
    }

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    private init(_ key: Key) {
        v0 = key.low ^ 0x736f_6d65_7073_6575
        v1 = key.high ^ 0x646f_7261_6e64_6f6d
        v2 = key.low ^ 0x6c79_6765_6e65_7261
        v3 = key.high ^ 0x7465_6462_7974_6573
    }

    /// The hash of 64 bits.
    package static func hash64(_ bytes: UnsafeRawBufferPointer, key: Key) -> UInt64 {
        var state = SipHash(key)
        state.compress(bytes)
        state.v2 ^= 0xff
        return state.finish()
    }

    /// The hash of 128 bits: the first eight bytes of the reference's output, little-endian, then the others.
    package static func hash128(_ bytes: UnsafeRawBufferPointer, key: Key) -> (low: UInt64, high: UInt64) {
        var state = SipHash(key)
        state.v1 ^= 0xee
        state.compress(bytes)
        state.v2 ^= 0xee
        let low = state.finish()
        state.v1 ^= 0xdd
        return (low, state.finish())
    }

    @inline(__always)
    private mutating func compress(_ bytes: UnsafeRawBufferPointer) {
        let count = bytes.count
        var offset = 0
        while offset &+ 8 <= count {
            absorb(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        var last = UInt64(truncatingIfNeeded: count) &<< 56
        var shift: UInt64 = 0
        while offset < count {
            last |= UInt64(bytes[offset]) &<< shift
            shift &+= 8
            offset &+= 1
        }
        absorb(last)
    }

    @inline(__always)
    private mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    @inline(__always)
    private mutating func finish() -> UInt64 {
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    @inline(__always)
    private mutating func round() {
        v0 &+= v1
        v1 = Self.rotate(v1, 13) ^ v0
        v0 = Self.rotate(v0, 32)
        v2 &+= v3
        v3 = Self.rotate(v3, 16) ^ v2
        v0 &+= v3
        v3 = Self.rotate(v3, 21) ^ v0
        v2 &+= v1
        v1 = Self.rotate(v1, 17) ^ v2
        v2 = Self.rotate(v2, 32)
    }

    @inline(__always)
    private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 { word &<< count | word &>> (64 &- count) }
}
