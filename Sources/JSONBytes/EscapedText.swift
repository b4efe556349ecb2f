// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A reader that takes the validated content of a string apart into runs of plain text and escapes.
struct EscapedText {
    enum Piece {
        /// Bytes that stand for themselves.
        case plain(UnsafeRawBufferPointer)
        /// The scalar that an escape, or a pair of them, denotes; `isRepaired` is true if a lone surrogate became
        /// U+FFFD.
        case scalar(UInt32, isRepaired: Bool)
    }

    private let content: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ content: UnsafeRawBufferPointer) { self.content = content }

    mutating func next() -> Piece? {
        guard offset < content.count else { return nil }
        guard content[offset] == UInt8(ascii: "\\") else {
            let start = offset
            while offset < content.count, content[offset] != UInt8(ascii: "\\") { offset &+= 1 }
            return .plain(UnsafeRawBufferPointer(rebasing: content[start..<offset]))
        }
        let letter = content[offset &+ 1]
        guard letter == UInt8(ascii: "u") else {
            offset &+= 2
            return .scalar(UInt32(Self.meaning(of: letter)), isRepaired: false)
        }
        let unit = codeUnit(at: offset)
        offset &+= 6
        guard unit & 0xf800 == 0xd800 else { return .scalar(unit, isRepaired: false) }
        guard unit < 0xdc00, offset &+ 6 <= content.count, content[offset] == UInt8(ascii: "\\"),
            content[offset &+ 1] == UInt8(ascii: "u")
        else { return .scalar(0xfffd, isRepaired: true) }
        let low = codeUnit(at: offset)
        // The bytes that follow a lone half are not swallowed: they are read on their own.
        guard low & 0xfc00 == 0xdc00 else { return .scalar(0xfffd, isRepaired: true) }
        offset &+= 6
        return .scalar(0x10000 &+ (unit & 0x3ff) &<< 10 &+ low & 0x3ff, isRepaired: false)
    }

    private func codeUnit(at escape: Int) -> UInt32 {
        var unit: UInt32 = 0
        for index in 2..<6 { unit = unit &<< 4 | UInt32(HexDigit.value(of: content[escape &+ index]) ?? 0) }
        return unit
    }

    private static func meaning(of letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }
}
