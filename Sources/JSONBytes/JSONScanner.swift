// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Reads JSON from borrowed memory in one pass and validates everything that it passes.
///
/// The scanner accepts exactly RFC 8259 in UTF-8 (RFC 3629), up to a depth: no byte order mark (see
/// ``hasByteOrderMark(_:)``), no comments, no trailing commas. Defined beyond the grammar: escaped surrogates need not
/// be paired, escaped NUL is allowed, members may repeat (the last one counts), and a number may be too large for a
/// `Double`. Nothing is allocated, nothing recurses; memory outside of the buffer is never read.
///
/// ```swift
/// var scanner = JSONScanner(line)
/// try scanner.beginObject()
/// while let name = try scanner.nextMember() {
///     let value = try scanner.value()
/// }
/// try scanner.finish()
/// ```
///
/// After an error the scanner must not be used any further. Calls out of order (a member asked for when a value is due)
/// throw ``JSONError/Code/unexpectedByte``.
package struct JSONScanner {
    /// The depth that is allowed if the caller gives no other.
    package static let defaultDepth = 128

    let base: UnsafeRawPointer
    let end: UnsafeRawPointer
    let maximumDepth: Int
    var cursor: UnsafeRawPointer
    var depth = 0
    /// True if a container was just opened, so that no comma is due.
    private var isFirst = false

    /// Creates a scanner that stands before the first byte.
    ///
    /// - Parameters:
    ///   - bytes: The document. It must not be moved or freed while the scanner and its slices are in use. A document
    ///     of more than 2 GiB throws ``JSONError/Code/tooLarge`` at the first value.
    ///   - maximumDepth: The number of levels to which arrays and objects may be nested; `[[1]]` has depth 2.
    package init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int = JSONScanner.defaultDepth) {
        let nothing: StaticString = ""
        base = bytes.baseAddress ?? UnsafeRawPointer(nothing.utf8Start)
        end = base + bytes.count
        cursor = base
        self.maximumDepth = maximumDepth
    }

    /// Creates a scanner over one value that was scanned before.
    package init(_ slice: JSONSlice, maximumDepth: Int = .max) {
        self.init(slice.bytes, maximumDepth: maximumDepth)
    }

    /// The size of the largest document, in bytes.
    package static let maximumLength = Int(Int32.max)

    /// Returns whether the bytes begin with the UTF-8 byte order mark, which JSON texts must not have (RFC 8259, 8.1).
    package static func hasByteOrderMark(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf
    }

    /// Validates a whole document and returns its value.
    ///
    /// - Throws: ``JSONError`` with the offset of the first wrong byte.
    package static func document(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int = JSONScanner.defaultDepth
    ) throws(JSONError) -> JSONSlice {
        var scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
        let value = try scanner.value()
        try scanner.finish()
        return value
    }

    /// The number of bytes that the scanner has passed.
    package var offset: Int { Int(bitPattern: cursor) &- Int(bitPattern: base) }

    /// Returns the kind of the value that comes next, by its first byte alone.
    package mutating func peekKind() throws(JSONError) -> JSONKind {
        try checkLength()
        skipWhiteSpace()
        switch byte(at: cursor) {
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw unexpected(at: cursor)
        }
    }

    /// Validates the next value, steps over it and returns it.
    package mutating func value() throws(JSONError) -> JSONSlice { try nextValue() }

    @inline(__always)
    mutating func nextValue() throws(JSONError) -> JSONSlice {
        if depth == 0 { try checkLength() }
        skipWhiteSpace()
        isFirst = false
        let start = cursor
        let first = byte(at: start)
        if first == UInt8(ascii: "\"") {
            let flags = try scanString()
            return JSONSlice(start: start, end: cursor, kind: .string, flags: flags)
        }
        return try otherValue(first)
    }

    /// Steps into an object, before its first member.
    package mutating func beginObject() throws(JSONError) { try begin(UInt8(ascii: "{")) }

    /// Steps into an array, before its first element.
    package mutating func beginArray() throws(JSONError) { try begin(UInt8(ascii: "[")) }

    /// Reads the name of the next member and stops behind its colon; returns nil if the object ends.
    ///
    /// Read the value with ``value()`` or step into it before you ask for the next member. The name is a string with
    /// possible escapes: compare it with ``JSONSlice/equals(_:)``.
    package mutating func nextMember() throws(JSONError) -> JSONSlice? {
        guard try advance(to: UInt8(ascii: "}")) else { return nil }
        let start = cursor
        guard byte(at: start) == UInt8(ascii: "\"") else { throw unexpected(at: start) }
        let flags = try scanString()
        let name = JSONSlice(start: start, end: cursor, kind: .string, flags: flags)
        skipWhiteSpace()
        guard byte(at: cursor) == UInt8(ascii: ":") else { throw unexpected(at: cursor) }
        cursor += 1
        return name
    }

    /// Steps to the next element of the array and returns true, or steps out of the array and returns false.
    package mutating func nextElement() throws(JSONError) -> Bool { try advance(to: UInt8(ascii: "]")) }

    /// Requires that only white space is left.
    package mutating func finish() throws(JSONError) {
        skipWhiteSpace()
        guard cursor == end else { throw error(.trailingText, at: cursor) }
    }

    private mutating func begin(_ opening: UInt8) throws(JSONError) {
        try checkLength()
        skipWhiteSpace()
        guard byte(at: cursor) == opening else { throw unexpected(at: cursor) }
        guard depth < maximumDepth else { throw error(.tooDeep, at: cursor) }
        depth &+= 1
        cursor += 1
        isFirst = true
    }

    /// Passes the comma that is due and returns true, or passes the closing bracket and returns false.
    @inline(__always)
    private mutating func advance(to closing: UInt8) throws(JSONError) -> Bool {
        skipWhiteSpace()
        let next = byte(at: cursor)
        if next == UInt8(ascii: ","), !isFirst {
            cursor += 1
            skipWhiteSpace()
            return true
        }
        if next == closing, depth > 0 {
            cursor += 1
            depth &-= 1
            isFirst = false
            return false
        }
        guard isFirst, cursor != end else { throw unexpected(at: cursor) }
        isFirst = false
        return true
    }
}
