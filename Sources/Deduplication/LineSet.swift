// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Some of the lines of a segment: one bit for each line, or no bits if the set has all lines or none.
package struct LineSet: Hashable, Sendable {
    /// The number of lines of the segment.
    package let lines: Int
    /// The number of lines in the set.
    package private(set) var count: Int
    /// The bits of the lines; empty while all lines are in the set, or none.
    private var words: [UInt64] = []

    /// Creates an empty set for a segment with this many lines.
    package init(lines: Int) {
        self.lines = lines
        count = 0
    }

    /// Creates a set of every line of a segment with this many lines.
    package init(allOf lines: Int) {
        self.lines = lines
        count = lines
    }

    /// True if every line is in the set.
    package var isWhole: Bool { count == lines }

    /// Returns whether a line is in the set; false for a line that the segment does not have.
    @inline(__always)
    package func contains(_ line: Int) -> Bool {
        guard line < lines, line >= 0 else { return false }
        return words.isEmpty ? count > 0 : words[line &>> 6] &>> UInt64(line & 63) & 1 == 1
    }

    /// Adds a line; nothing happens if the set has it already.
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

    /// Removes a line; nothing happens if the set does not have it.
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

    /// Returns the number of lines of a range that are in the set.
    package func count(in range: Range<Int>) -> Int {
        guard !words.isEmpty else { return count > 0 ? range.count : 0 }
        guard !range.isEmpty else { return 0 }
        let (first, last) = (range.lowerBound >> 6, (range.upperBound - 1) >> 6)
        var total = 0
        for index in first...last {
            var word = words[index]
            if index == first { word &= UInt64.max << UInt64(range.lowerBound & 63) }
            if index == last { word &= UInt64.max >> UInt64(63 - (range.upperBound - 1) & 63) }
            total += word.nonzeroBitCount
        }
        return total
    }

    /// Frees the memory of the bits if the set has all lines or none.
    package mutating func seal() {
        if count == 0 || isWhole { words = [] }
    }

    /// The memory of the bits, in bytes.
    package var byteCount: Int { words.count * 8 }

    /// Compares the lines that are in the sets, not their representation.
    package static func == (left: Self, right: Self) -> Bool {
        left.lines == right.lines && left.count == right.count
            && (0..<left.lines).allSatisfy { left.contains($0) == right.contains($0) }
    }

    /// Feeds the hasher with the two counts only, so that equal sets have equal hashes.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(lines)
        hasher.combine(count)
    }
}
