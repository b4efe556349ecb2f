// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Well-formed UTF-8 sequences of more than one byte, by the table of RFC 3629, section 4.
enum UTF8Sequence {
    /// Returns the length of the sequence that begins here, 2…4, or 0 if the bytes are not well-formed.
    ///
    /// Overlong forms, surrogates and values above U+10FFFF are not well-formed.
    @inline(__always)
    static func length(at pointer: UnsafeRawPointer, end: UnsafeRawPointer) -> Int {
        let available = Int(bitPattern: end) &- Int(bitPattern: pointer)
        guard available >= 2 else { return 0 }
        let first = pointer.load(as: UInt8.self)
        let second = pointer.load(fromByteOffset: 1, as: UInt8.self)
        switch first {
        case 0xc2...0xdf: return isContinuation(second) ? 2 : 0
        case 0xe0...0xef:
            guard available >= 3, isContinuation(second),
                isContinuation(pointer.load(fromByteOffset: 2, as: UInt8.self))
            else { return 0 }
            if first == 0xe0 { return second >= 0xa0 ? 3 : 0 }
            if first == 0xed { return second <= 0x9f ? 3 : 0 }
            return 3
        case 0xf0...0xf4:
            guard available >= 4, isContinuation(second),
                isContinuation(pointer.load(fromByteOffset: 2, as: UInt8.self)),
                isContinuation(pointer.load(fromByteOffset: 3, as: UInt8.self))
            else { return 0 }
            if first == 0xf0 { return second >= 0x90 ? 4 : 0 }
            if first == 0xf4 { return second <= 0x8f ? 4 : 0 }
            return 4
        default: return 0
        }
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }

    /// Appends the sequence of a scalar value; `scalar` must not be a surrogate.
    static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
        if scalar < 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: scalar))
            return
        }
        if scalar < 0x800 {
            bytes.append(0xc0 | UInt8(truncatingIfNeeded: scalar &>> 6))
        } else {
            if scalar < 0x10000 {
                bytes.append(0xe0 | UInt8(truncatingIfNeeded: scalar &>> 12))
            } else {
                bytes.append(0xf0 | UInt8(truncatingIfNeeded: scalar &>> 18))
                bytes.append(0x80 | UInt8(truncatingIfNeeded: scalar &>> 12) & 0x3f)
            }
            bytes.append(0x80 | UInt8(truncatingIfNeeded: scalar &>> 6) & 0x3f)
        }
        bytes.append(0x80 | UInt8(truncatingIfNeeded: scalar) & 0x3f)
    }
}

/// Conversions of hexadecimal digits in both directions.
enum HexDigit {
    @inline(__always)
    static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }

    /// Returns the lower case digit of a value below 16.
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ value &- 10
    }
}
