// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// SipHash by Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), of 64 and of 128 bits.
///
/// The hash is keyed, so that a client who chooses record ids cannot make two of them collide.
package struct SipHash: Sendable {
    /// The secret of a deployment.
    package struct Key: Hashable, Sendable {
        let low: UInt64
        let high: UInt64

        /// Creates a key of two words: its first eight bytes as a little-endian number, and the other eight.
        package init(_ low: UInt64, _ high: UInt64) {
            self.low = low
            self.high = high
        }

        /// Creates a key of 16 bytes; nil for any other count.
        package init?(bytes: some Collection<UInt8>) {
            guard bytes.count == 16 else { return nil }
            let words = bytes.enumerated().reduce(into: [0, 0] as [UInt64]) {
                $0[$1.offset / 8] |= UInt64($1.element) << UInt64($1.offset % 8 * 8)
            }
            self.init(words[0], words[1])
        }
    }

    /// The number of rounds that a word and the end take.
    package enum Variant: Sendable {
        /// SipHash-2-4, as it was published.
        case full
        /// SipHash-1-3, half the work: no attack on it is known either, and hashes that are never seen are hard to
        /// attack.
        case short

        @inline(__always)
        var wordRounds: Int { self == .full ? 2 : 1 }
        @inline(__always)
        var endRounds: Int { self == .full ? 4 : 3 }
    }

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    /// Creates a state that has absorbed nothing.
    init(_ key: Key) {
        v0 = key.low ^ 0x736f_6d65_7073_6575
        v1 = key.high ^ 0x646f_7261_6e64_6f6d
        v2 = key.low ^ 0x6c79_6765_6e65_7261
        v3 = key.high ^ 0x7465_6462_7974_6573
    }

    /// Returns the hash of 64 bits.
    package static func hash64(_ bytes: UnsafeRawBufferPointer, key: Key, _ variant: Variant = .full) -> UInt64 {
        SipHash(key).hash(of: bytes, variant)
    }

    /// Returns the hash of 128 bits: the first eight bytes of the reference's output, little-endian, then the others.
    package static func hash128(_ bytes: UnsafeRawBufferPointer, key: Key) -> (low: UInt64, high: UInt64) {
        var state = SipHash(key)
        let low = state.low128(bytes)
        state.v1 ^= 0xdd
        return (low, state.finish())
    }

    /// Returns the first eight bytes of ``hash128(_:key:)``, without the rounds for the other eight.
    static func low128(_ bytes: UnsafeRawBufferPointer, key: Key) -> UInt64 {
        var state = SipHash(key)
        return state.low128(bytes)
    }

    /// Returns the hash of 64 bits if these bytes are the last ones, and leaves the state unchanged.
    ///
    /// The last word carries the number of bytes, so that no other end of a message gives the same words.
    @inline(__always)
    func hash(of bytes: UnsafeRawBufferPointer, _ variant: Variant = .full) -> UInt64 {
        var state = self
        state.compress(bytes, variant)
        return state.end(variant)
    }

    /// Returns the hash of 64 bits if this word is the last one, and leaves the state unchanged.
    ///
    /// It is for messages whose length is fixed by the words that came before.
    @inline(__always)
    func hash(of word: UInt64, _ variant: Variant = .full) -> UInt64 {
        var state = self
        state.absorb(word, variant)
        return state.end(variant)
    }

    /// Returns the hash of 64 bits of the absorbed words.
    @inline(__always)
    mutating func end(_ variant: Variant = .full) -> UInt64 {
        v2 ^= 0xff
        return finish(variant)
    }

    @inline(__always)
    private mutating func low128(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        v1 ^= 0xee
        compress(bytes)
        v2 ^= 0xee
        return finish()
    }

    /// Absorbs bytes as whole words and a last word of the remaining bytes and the count of all.
    @inline(__always)
    mutating func compress(_ bytes: UnsafeRawBufferPointer, _ variant: Variant = .full) {
        let count = bytes.count
        let whole = count & ~7
        var offset = 0
        while offset < whole {
            absorb(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)), variant)
            offset &+= 8
        }
        absorb(Self.rest(of: bytes, from: whole) | UInt64(truncatingIfNeeded: count) &<< 56, variant)
    }

    /// Returns up to seven bytes as a little-endian number, by loads that overlap instead of one load for each byte.
    @inline(__always)
    private static func rest(of bytes: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
        let count = bytes.count &- start
        if count >= 4 {
            let low = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self))
            let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count &- 4, as: UInt32.self))
            return UInt64(low) | UInt64(high) &<< UInt64(truncatingIfNeeded: (count &- 4) &* 8)
        }
        guard count > 0 else { return 0 }
        let middle = count &>> 1
        return UInt64(bytes[start])
            | UInt64(bytes[start &+ middle]) &<< UInt64(truncatingIfNeeded: middle &* 8)
            | UInt64(bytes[bytes.count &- 1]) &<< UInt64(truncatingIfNeeded: (count &- 1) &* 8)
    }

    /// Absorbs eight bytes.
    @inline(__always)
    mutating func absorb(_ word: UInt64, _ variant: Variant = .full) {
        v3 ^= word
        for _ in 0..<variant.wordRounds { round() }
        v0 ^= word
    }

    @inline(__always)
    private mutating func finish(_ variant: Variant = .full) -> UInt64 {
        for _ in 0..<variant.endRounds { round() }
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
