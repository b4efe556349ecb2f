// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension JSONSlice {
    /// The text of a string, escapes resolved and lone surrogates repaired to U+FFFD; nil for other kinds.
    package var string: String? {
        guard kind == .string else { return nil }
        if !hasEscapes { return String(decoding: content, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content.count)
        appendUnescaped(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as it is spelled, for messages to the operator.
    package var spelling: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends the text of a string as UTF-8, escapes resolved and lone surrogates repaired to U+FFFD.
    ///
    /// For other kinds the spelling is appended.
    package func appendUnescaped(to bytes: inout [UInt8]) {
        guard hasEscapes else {
            bytes.append(contentsOf: content)
            return
        }
        var escapes = EscapedText(content)
        while let piece = escapes.next() {
            switch piece {
            case .plain(let text): bytes.append(contentsOf: text)
            case .scalar(let scalar, _): UTF8Sequence.append(scalar, to: &bytes)
            }
        }
    }

    /// Calls `body` with the text of a string as UTF-8, without a copy unless there are escapes.
    package func withText<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        guard hasEscapes else { return try body(content) }
        var bytes: [UInt8] = []
        appendUnescaped(to: &bytes)
        return try bytes.withUnsafeBufferPointer { (text) throws(E) in try body(UnsafeRawBufferPointer(text)) }
    }

    /// Returns whether the value is a string whose text has exactly these UTF-8 bytes.
    ///
    /// Bytes are compared, never characters: JSON names in another normal form are other names.
    package func equals(_ text: UnsafeRawBufferPointer) -> Bool {
        guard kind == .string else { return false }
        if hasEscapes { return unescapedEquals(text) }
        let count = Int(length) &- 2
        guard count == text.count else { return false }
        return RawBytes.areEqual(start + 1, text.baseAddress ?? start, count: count)
    }

    /// Returns whether the value is a string with this text.
    package func equals(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { equals(UnsafeRawBufferPointer($0)) }
    }

    /// Returns whether the value is a string with this ASCII text.
    package func equals(_ text: StaticString) -> Bool {
        equals(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// True if the text has U+FFFD in place of a lone surrogate, so that it is not the text that was meant.
    package var isRepaired: Bool {
        guard kind == .string, hasSurrogateEscapes else { return false }
        var escapes = EscapedText(content)
        while let piece = escapes.next() {
            if case .scalar(_, isRepaired: true) = piece { return true }
        }
        return false
    }

    func unescapedEquals(_ text: UnsafeRawBufferPointer) -> Bool {
        // An escape is at least as long as the text that it denotes.
        guard text.count <= content.count else { return false }
        var bytes: [UInt8] = []
        appendUnescaped(to: &bytes)
        return bytes.elementsEqual(text)
    }
}
