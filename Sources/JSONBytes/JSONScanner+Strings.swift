// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Steps over the string at whose opening quote the scanner stands.
    @inline(__always)
    mutating func scanString() throws(JSONError) -> JSONSlice.Flags {
        cursor = skipPlain(from: cursor + 1)
        if cursor < end, cursor.load(as: UInt8.self) == UInt8(ascii: "\"") {
            cursor += 1
            return []
        }
        return try scanSpecialString()
    }

    /// Returns the address of the first byte from `start` on that is not plain ASCII text of a string, or the end.
    @inline(__always)
    func skipPlain(from start: UnsafeRawPointer) -> UnsafeRawPointer {
        var pointer = start
        while Int(bitPattern: end) &- Int(bitPattern: pointer) >= 8 {
            let mask = ByteWord.specials(ByteWord.load(pointer))
            if mask != 0 { return pointer + ByteWord.firstMark(mask) }
            pointer += 8
        }
        while pointer < end {
            let byte = pointer.load(as: UInt8.self)
            if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            pointer += 1
        }
        return pointer
    }

    /// Continues at the first byte of a string that is not plain text, up to the closing quote.
    @inline(never)
    private mutating func scanSpecialString() throws(JSONError) -> JSONSlice.Flags {
        var flags: JSONSlice.Flags = []
        while cursor < end {
            let byte = cursor.load(as: UInt8.self)
            if byte >= 0x80 {
                flags.insert(.nonASCII)
                let length = UTF8Sequence.length(at: cursor, end: end)
                if length == 0 { throw error(.invalidUTF8, at: cursor) }
                cursor += length
                // Text in other scripts comes in runs: no word is loaded between two letters of a run.
                if cursor < end, cursor.load(as: UInt8.self) >= 0x80 { continue }
            } else if byte == UInt8(ascii: "\"") {
                cursor += 1
                return flags
            } else if byte == UInt8(ascii: "\\") {
                flags.formUnion(try skipEscape())
            } else {
                throw error(.controlCharacter, at: cursor)
            }
            cursor = skipPlain(from: cursor)
        }
        throw error(.unexpectedEnd, at: end)
    }

    private mutating func skipEscape() throws(JSONError) -> JSONSlice.Flags {
        let start = cursor
        cursor += 1
        switch byte(at: cursor) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            cursor += 1
            return .escapes
        case UInt8(ascii: "u"):
            cursor += 1
            var unit: UInt16 = 0
            for _ in 0..<4 {
                guard let digit = HexDigit.value(of: byte(at: cursor)) else {
                    throw cursor == end ? error(.unexpectedEnd, at: end) : error(.invalidEscape, at: start)
                }
                unit = unit &<< 4 | UInt16(digit)
                cursor += 1
            }
            return unit & 0xf800 == 0xd800 ? [.escapes, .surrogates] : .escapes
        default: throw cursor == end ? error(.unexpectedEnd, at: end) : error(.invalidEscape, at: start)
        }
    }
}
