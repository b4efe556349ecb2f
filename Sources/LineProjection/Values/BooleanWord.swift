// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The words that PostgreSQL, SQL, HTML forms and their libraries have for true and false, in any case.
enum BooleanWord {
    /// Returns 1 or 0 for a word, white space around it left out; nil for any other text.
    static func value(of text: UnsafeRawBufferPointer) -> Double? {
        let text = text.trimmed
        guard (1...5).contains(text.count) else { return nil }
        // Lower case: the bit that differs is set, which changes no digit.
        switch text.reduce(0 as UInt64, { $0 << 8 | UInt64($1 | 0x20) }) {
        case word("true"), word("t"), word("yes"), word("y"), word("on"): return 1
        case word("false"), word("f"), word("no"), word("n"), word("off"): return 0
        // MySQL's BIT(1) as a text: the byte itself.
        case 0x21 where text[0] == 1: return 1
        case 0x20 where text[0] == 0: return 0
        default: return nil
        }
    }

    private static func word(_ text: StaticString) -> UInt64 {
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension UnsafeRawBufferPointer {
    /// The text without spaces, tabs and line ends around it.
    var trimmed: UnsafeRawBufferPointer {
        var (start, end) = (0, count)
        while start < end, Self.isSpace(self[start]) { start &+= 1 }
        while start < end, Self.isSpace(self[end &- 1]) { end &-= 1 }
        return UnsafeRawBufferPointer(rebasing: self[start..<end])
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0d ~= byte }
}
