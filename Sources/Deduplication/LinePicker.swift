// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Cuts the lines that are wanted out of the spooled bytes of one array, however these are cut into pieces.
///
/// In a segment every element stands behind `,\n`. No element contains a raw newline, because a stream line contains
/// none and JSON strings escape it; nor does an element end with a comma. So newlines number the elements. The very
/// first separator that would go out is left out: the output can stand between `[` and `]`, also if several segments
/// follow each other.
package struct LinePicker {
    private static let comma = UInt8(ascii: ",")
    private static let newline = UInt8(ascii: "\n")

    /// The lines that are wanted of the present stretch; nil means all of them.
    private var wanted: LineSet?
    /// The number of the line that has been reached; `isSending` tells whether it goes out.
    private var line = -1
    private var isSending = false
    /// True if a piece ended with a comma that may belong to the next line.
    private var holdsComma = false
    /// The number of bytes of the first separator that are still to be left out of a stretch that goes out as a whole.
    private var dropping = 0
    /// True if any line has gone out.
    private var hasBegun = false

    /// Creates a picker that stands before an array's first element.
    package init() {}

    /// Prepares for the bytes of the next stretch, which begins with the separator of a line.
    package mutating func begin(_ stretch: SegmentIndex.Stretch, wanted: LineSet) {
        line = stretch.firstLine - 1
        isSending = false
        holdsComma = false
        self.wanted = stretch.isWhole ? nil : wanted
        dropping = stretch.isWhole && !hasBegun ? 2 : 0
        if stretch.isWhole { hasBegun = true }
    }

    /// Returns the bytes of a piece that go out; there may be none.
    package mutating func take(_ piece: [UInt8]) -> [UInt8] {
        guard let wanted else {
            guard dropping > 0 else { return piece }
            let count = min(dropping, piece.count)
            dropping -= count
            return Array(piece[count...])
        }
        return pick(piece, wanted)
    }

    private mutating func pick(_ piece: [UInt8], _ wanted: LineSet) -> [UInt8] {
        var output: [UInt8] = []
        // A comma before the first newline of the piece belongs to its line only if that newline is its first byte.
        if holdsComma, isSending, piece.first != Self.newline { output.append(Self.comma) }
        var end = piece.count
        let hadComma = holdsComma
        holdsComma = piece.last == Self.comma
        if holdsComma { end -= 1 }
        piece.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            // The offset at which the part that goes out begins.
            var start = 0
            var offset = 0
            while true {
                let newline = LineSplitter.newline(from: base + offset, end: base + bytes.count) - base
                guard newline < bytes.count else { break }
                line += 1
                let isNextSent = wanted.contains(line)
                if isNextSent != isSending || newline == 0 {
                    if isSending { output.append(contentsOf: bytes[start..<max(newline - 1, start)]) }
                    if isNextSent {
                        start = begin(at: newline, held: hadComma, &output)
                    }
                    isSending = isNextSent
                }
                offset = newline + 1
            }
            if isSending, start < end { output.append(contentsOf: bytes[start..<end]) }
        }
        return output
    }

    /// Returns the offset at which a line that goes out begins; the newline of its separator is at `newline`.
    private mutating func begin(at newline: Int, held: Bool, _ output: inout [UInt8]) -> Int {
        guard hasBegun else {
            hasBegun = true
            return newline + 1
        }
        guard newline == 0 else { return newline - 1 }
        if held { output.append(Self.comma) }
        return 0
    }
}
