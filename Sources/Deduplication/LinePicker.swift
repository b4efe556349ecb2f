// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Cuts the lines that are wanted out of the spooled bytes of one array, wherever these are cut into pieces.
///
/// In a segment every element stands behind `,\n`. No element contains a raw newline, because what came in as a line
/// contains none and JSON strings escape it; nor does one end with a comma. So newlines number the elements. The very
/// first separator that would go out is left away: what comes can stand between `[` and `]`, also when several segments
/// follow each other.
package struct LinePicker {
    private static let comma = UInt8(ascii: ",")
    private static let newline = UInt8(ascii: "\n")

    /// What is wanted of the present stretch; nil is all of it.
    private var wanted: LineSet?
    /// The number of the line that has been reached, and whether it goes out.
    private var line = -1
    private var isSending = false
    /// Whether a piece ended with a comma that may belong to the next line.
    private var holdsComma = false
    /// How many bytes of the first separator are still to be left away where nothing is looked at.
    private var dropping = 0
    /// Whether anything has gone out.
    private var hasBegun = false

    /// Before an array's first element.
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

    /// The bytes of a piece that go out; they may be none.
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
            // Where the part that goes out begins.
            var start = 0
            var place = 0
            while true {
                let newline = LineSplitter.newline(from: base + place, end: base + bytes.count) - base
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
                place = newline + 1
            }
            if isSending, start < end { output.append(contentsOf: bytes[start..<end]) }
        }
        return output
    }

    /// Where a line that goes out begins, whose separator has its newline at a place.
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
