// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One value of a scanned document, still lying in the document's memory.
///
/// Only ``JSONScanner`` makes slices, and only of values that it has validated, so reading a slice cannot fail by
/// grammar. A slice borrows: it is valid as long as the scanned bytes are, which the caller ensures.
package struct JSONSlice {
    /// The properties of a value that the scanner noticed on its way.
    struct Flags: OptionSet {
        let rawValue: UInt8
        init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A string with a backslash in it.
        static let escapes = Flags(rawValue: 1)
        /// A string with a byte above 127 in it.
        static let nonASCII = Flags(rawValue: 2)
        /// A string with an escape `\ud800` to `\udfff`, paired or not.
        static let surrogates = Flags(rawValue: 4)
        /// A number with a fraction or an exponent.
        static let fraction = Flags(rawValue: 8)
        /// A number with an exponent.
        static let exponent = Flags(rawValue: 16)
    }

    let start: UnsafeRawPointer
    let length: UInt32
    /// The kind of the value.
    package let kind: JSONKind
    let flags: Flags

    @inline(__always)
    init(start: UnsafeRawPointer, end: UnsafeRawPointer, kind: JSONKind, flags: Flags = []) {
        self.start = start
        length = UInt32(truncatingIfNeeded: Int(bitPattern: end) &- Int(bitPattern: start))
        self.kind = kind
        self.flags = flags
    }

    /// The value as it is spelled, a string with its quotes.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: Int(length))
    }

    /// The bytes between the quotes of a string, escapes as they are; for any other value the same as ``bytes``.
    package var content: UnsafeRawBufferPointer {
        kind == .string ? UnsafeRawBufferPointer(start: start + 1, count: Int(length) &- 2) : bytes
    }

    /// True if the value is a string with escapes, so that ``content`` is not its text.
    package var hasEscapes: Bool { flags.contains(.escapes) }

    /// True if the value is a string with escaped surrogates, which may be lone ones.
    package var hasSurrogateEscapes: Bool { flags.contains(.surrogates) }

    /// True if a string's bytes are all ASCII; meaningless for other kinds.
    package var isASCII: Bool { !flags.contains(.nonASCII) }

    /// True if the value is a number without fraction and exponent.
    package var isInteger: Bool { kind == .number && !flags.contains(.fraction) }

    /// True if the value is `null`.
    package var isNull: Bool { kind == .null }

    /// True if the value is the empty string.
    package var isEmptyString: Bool { kind == .string && length == 2 }
}
