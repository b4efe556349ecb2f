// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Some of the lines of a segment: one bit a line, and none where it is all of them or none.
package struct LineSet: Hashable, Sendable {
    /// How many lines the segment has.
    package let lines: Int
    /// How many of them are in the set.
    package private(set) var count: Int
    /// Empty while all lines are in the set, or none.
    private var words: [UInt64] = []

    /// No line of a segment of this many.
    package init(lines: Int) {
        self.lines = lines
        count = 0
    }

    /// Every line of a segment of this many.
    package init(allOf lines: Int) {
        self.lines = lines
        count = lines
    }

    /// Whether every line is in it.
    package var isWhole: Bool { count == lines }

    /// Whether a line is in it; one that the segment does not have never is.
    @inline(__always)
    package func contains(_ line: Int) -> Bool {
        guard line < lines, line >= 0 else { return false }
        return words.isEmpty ? count > 0 : words[line &>> 6] &>> UInt64(line & 63) & 1 == 1
    }

    /// Puts a line in; nothing happens where it is in already.
    package mutating func insert(_ line: Int) {
        precondition(line >= 0 && line < lines, "a verdict on a line that the segment does not have")
        if words.isEmpty {
            guard count == 0 else { return }
            words = Array(repeating: 0, count: (lines + 63) / 64)
        }
        let bit: UInt64 = 1 &<< UInt64(line & 63)
        count &+= words[line &>> 6] & bit == 0 ? 1 : 0
        words[line &>> 6] |= bit
    }

    /// Takes a line out; nothing happens where it is not in.
    package mutating func remove(_ line: Int) {
        precondition(line >= 0 && line < lines, "a verdict on a line that the segment does not have")
        if words.isEmpty {
            guard count > 0 else { return }
            words = Array(repeating: .max, count: (lines + 63) / 64)
            if lines % 64 > 0 { words[words.count - 1] = 1 << UInt64(lines % 64) - 1 }
        }
        let bit: UInt64 = 1 &<< UInt64(line & 63)
        count &-= words[line &>> 6] & bit == 0 ? 0 : 1
        words[line &>> 6] &= ~bit
    }

    /// How many lines of a range are in it.
    package func count(in range: Range<Int>) -> Int {
        guard !words.isEmpty else { return count > 0 ? range.count : 0 }
        guard !range.isEmpty else { return 0 }
        let (first, last) = (range.lowerBound >> 6, (range.upperBound - 1) >> 6)
        var total = 0
        for place in first...last {
            var word = words[place]
            if place == first { word &= UInt64.max << UInt64(range.lowerBound & 63) }
            if place == last { word &= UInt64.max >> UInt64(63 - (range.upperBound - 1) & 63) }
            total += word.nonzeroBitCount
        }
        return total
    }

    /// Gives back what is not needed any more once the set is all lines or none.
    package mutating func seal() {
        if count == 0 || isWhole { words = [] }
    }

    /// How many bytes it takes besides itself.
    package var byteCount: Int { words.count * 8 }

    /// By the lines that are in it, not by how that is kept.
    package static func == (left: Self, right: Self) -> Bool {
        left.lines == right.lines && left.count == right.count
            && (0..<left.lines).allSatisfy { left.contains($0) == right.contains($0) }
    }

    /// By the numbers only, so that it fits the comparison.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(lines)
        hasher.combine(count)
    }
}
