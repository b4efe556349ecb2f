// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Operations on eight bytes at a time in one word (SWAR).
///
/// The masks have the high bit set in every byte that matches. A byte above the lowest match may be marked without
/// matching, because a subtraction borrows from it: only the lowest mark counts.
enum ByteWord {
    @inline(__always)
    static func load(_ pointer: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: pointer.loadUnaligned(as: UInt64.self))
    }

    /// Marks the bytes that end a run of plain text in a string: quote, backslash, control characters and non-ASCII
    /// bytes.
    @inline(__always)
    static func specials(_ word: UInt64) -> UInt64 {
        let quotes = (word ^ 0x2222_2222_2222_2222) &- 0x0101_0101_0101_0101
        let backslashes = (word ^ 0x5c5c_5c5c_5c5c_5c5c) &- 0x0101_0101_0101_0101
        let controls = word &- 0x2020_2020_2020_2020
        return (quotes | backslashes | controls | word) & 0x8080_8080_8080_8080
    }

    /// Marks newlines.
    @inline(__always)
    static func newlines(_ word: UInt64) -> UInt64 {
        let difference = word ^ 0x0a0a_0a0a_0a0a_0a0a
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }

    /// Returns the index of the lowest marked byte, 0…7; 8 if no byte is marked.
    @inline(__always)
    static func firstMark(_ mask: UInt64) -> Int { mask.trailingZeroBitCount &>> 3 }
}
