// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension JSONWriter {
    /// Appends a string literal with this text.
    package mutating func append(string text: String) {
        var text = text
        text.withUTF8 { append(stringUTF8: UnsafeRawBufferPointer($0)) }
    }

    /// Appends a member's name and the colon.
    package mutating func append(name: String) {
        append(string: name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Appends a string literal with this text; bytes that are not UTF-8 are repaired to U+FFFD.
    package mutating func append(stringUTF8 text: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(text)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a scanned string as it is spelled; only lone surrogates are repaired to U+FFFD.
    ///
    /// - Precondition: The slice is a string.
    package mutating func append(stringSlice slice: JSONSlice) {
        precondition(slice.kind == .string, "only strings are copied as strings")
        guard slice.hasSurrogateEscapes else { return append(raw: slice.bytes) }
        bytes.append(UInt8(ascii: "\""))
        var escapes = EscapedText(slice.content)
        var start = 0
        while let piece = escapes.next() {
            if case .scalar(_, isRepaired: true) = piece {
                bytes.append(contentsOf: [0xef, 0xbf, 0xbd])
            } else {
                bytes.append(contentsOf: slice.content[start..<escapes.offset])
            }
            start = escapes.offset
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends the JSON text of a scanned value as a string literal: JSON inside of JSON.
    ///
    /// Insignificant white space is dropped; the spelling of numbers and strings stays.
    package mutating func append(jsonTextOf slice: JSONSlice) {
        bytes.append(UInt8(ascii: "\""))
        switch slice.kind {
        case .null, .boolean, .number: append(raw: slice.bytes)
        case .string: appendEscaped(slice.bytes)
        case .array, .object: appendCompactText(of: slice.bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends the escaped text of an array or object without the white space between its tokens.
    private mutating func appendCompactText(of text: UnsafeRawBufferPointer) {
        var start = 0
        var index = 0
        var isInString = false
        while index < text.count {
            let byte = text[index]
            if isInString {
                if byte == UInt8(ascii: "\\") {
                    index &+= 1
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if JSONScanner.isWhiteSpace(byte) {
                appendEscaped(UnsafeRawBufferPointer(rebasing: text[start..<index]))
                start = index &+ 1
            }
            index &+= 1
        }
        appendEscaped(UnsafeRawBufferPointer(rebasing: text[start...]))
    }

    /// Appends text with the escapes that a string literal needs, without quotes.
    private mutating func appendEscaped(_ text: UnsafeRawBufferPointer) {
        guard let base = text.baseAddress else { return }
        let end = base + text.count
        var plain = base
        var cursor = base
        let scanner = JSONScanner(text)
        while true {
            cursor = scanner.skipPlain(from: cursor)
            guard cursor < end else { break }
            let byte = cursor.load(as: UInt8.self)
            if byte >= 0x80 {
                let length = UTF8Sequence.length(at: cursor, end: end)
                if length > 0 {
                    cursor += length
                    continue
                }
            }
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: plain, count: cursor - plain))
            if byte >= 0x80 {
                bytes.append(contentsOf: [0xef, 0xbf, 0xbd])
            } else {
                appendEscape(of: byte)
            }
            cursor += 1
            plain = cursor
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: plain, count: end - plain))
    }

    private mutating func appendEscape(of byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            append(raw: "u00")
            bytes.append(HexDigit.digit(byte &>> 4))
            bytes.append(HexDigit.digit(byte & 15))
        }
    }
}
