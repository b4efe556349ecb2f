// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

// Scanning of all values that are not strings. The loops read a byte only behind a comparison with `end`; at the end
// `byte(at:)` returns 0, which no JSON text may contain outside of a string.
extension JSONScanner {
    @inline(__always)
    func byte(at pointer: UnsafeRawPointer) -> UInt8 {
        pointer < end ? pointer.load(as: UInt8.self) : 0
    }

    @inline(never)
    func error(_ code: JSONError.Code, at pointer: UnsafeRawPointer) -> JSONError {
        JSONError(code, at: Int(bitPattern: pointer) &- Int(bitPattern: base))
    }

    /// Returns the error for a byte that the grammar does not allow at its offset, or for an end that comes too early.
    @inline(never)
    func unexpected(at pointer: UnsafeRawPointer) -> JSONError {
        if pointer < end { return error(.unexpectedByte, at: pointer) }
        let isEmpty = depth == 0 && UnsafeRawBufferPointer(start: base, count: offset).allSatisfy(Self.isWhiteSpace)
        return error(isEmpty ? .empty : .unexpectedEnd, at: pointer)
    }

    @inline(__always)
    func checkLength() throws(JSONError) {
        guard Int(bitPattern: end) &- Int(bitPattern: base) <= Self.maximumLength else {
            throw JSONError(.tooLarge, at: Self.maximumLength)
        }
    }

    @inline(__always)
    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
    }

    @inline(__always)
    mutating func skipWhiteSpace() {
        // Compact JSON has no white space, so the usual way through is one comparison.
        while cursor < end {
            let byte = cursor.load(as: UInt8.self)
            if byte > 0x20 || !Self.isWhiteSpace(byte) { return }
            cursor += 1
        }
    }

    /// Scans a value that is not a string; `first` is its first byte.
    mutating func otherValue(_ first: UInt8) throws(JSONError) -> JSONSlice {
        let start = cursor
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try skipContainer()
            return JSONSlice(start: start, end: cursor, kind: first == UInt8(ascii: "{") ? .object : .array)
        case UInt8(ascii: "t"):
            try skipLiteral("rue")
            return JSONSlice(start: start, end: cursor, kind: .boolean)
        case UInt8(ascii: "f"):
            try skipLiteral("alse")
            return JSONSlice(start: start, end: cursor, kind: .boolean)
        case UInt8(ascii: "n"):
            try skipLiteral("ull")
            return JSONSlice(start: start, end: cursor, kind: .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let flags = try scanNumber()
            return JSONSlice(start: start, end: cursor, kind: .number, flags: flags)
        default: throw unexpected(at: start)
        }
    }

    /// Steps over the rest of a literal of which the first letter has been seen.
    @inline(__always)
    mutating func skipLiteral(_ rest: StaticString) throws(JSONError) {
        var letter = rest.utf8Start
        let stop = letter + rest.utf8CodeUnitCount
        cursor += 1
        while letter < stop {
            guard byte(at: cursor) == letter.pointee else { throw unexpected(at: cursor) }
            cursor += 1
            letter += 1
        }
    }

    /// Steps over a number: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
    @inline(__always)
    mutating func scanNumber() throws(JSONError) -> JSONSlice.Flags {
        let start = cursor
        var flags: JSONSlice.Flags = []
        if byte(at: cursor) == UInt8(ascii: "-") { cursor += 1 }
        if byte(at: cursor) == UInt8(ascii: "0") {
            cursor += 1
            if byte(at: cursor) &- UInt8(ascii: "0") < 10 { throw error(.invalidNumber, at: start) }
        } else {
            try skipDigits(of: start)
        }
        if byte(at: cursor) == UInt8(ascii: ".") {
            flags.insert(.fraction)
            cursor += 1
            try skipDigits(of: start)
        }
        if byte(at: cursor) | 0x20 == UInt8(ascii: "e") {
            flags.formUnion([.fraction, .exponent])
            cursor += 1
            let sign = byte(at: cursor)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { cursor += 1 }
            try skipDigits(of: start)
        }
        return flags
    }

    @inline(__always)
    private mutating func skipDigits(of number: UnsafeRawPointer) throws(JSONError) {
        let first = cursor
        while byte(at: cursor) &- UInt8(ascii: "0") < 10 { cursor += 1 }
        if cursor == first { throw cursor == end ? unexpected(at: end) : error(.invalidNumber, at: number) }
    }
}
