// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The offsets of the chunks of one segment in the spool, and the lines that each holds.
package struct SegmentIndex: Hashable, Sendable {
    /// A range of spooled bytes with at least one line that goes out.
    package struct Stretch: Hashable, Sendable {
        /// The stretch's offset in the spool.
        package var offset: UInt64
        /// The number of bytes of the stretch.
        package var length: UInt64
        /// The number of the stretch's first line; the stretch begins with that line's separator.
        package var firstLine: Int
        /// True if all lines of the stretch go out, so that its bytes need not be inspected.
        package var isWhole: Bool

        /// Creates a stretch.
        package init(offset: UInt64, length: UInt64, firstLine: Int, isWhole: Bool) {
            self.offset = offset
            self.length = length
            self.firstLine = firstLine
            self.isWhole = isWhole
        }
    }

    /// A chunk as it was handed over; lines do not span chunks.
    private struct Chunk: Hashable, Sendable {
        var offset: UInt64
        var length: UInt64
        var firstLine: Int
    }

    private var chunks: [Chunk] = []
    /// The number of bytes of all chunks together.
    package private(set) var length: UInt64 = 0
    /// The number of lines of the segment.
    package private(set) var lines = 0

    /// The memory of the index, in bytes.
    var byteCount: Int { chunks.capacity * MemoryLayout<Chunk>.stride }

    /// Creates the index of an empty segment.
    package init() {}

    mutating func append(length count: UInt64, lines: Int, offset: UInt64) {
        guard count > 0 else { return }
        chunks.append(Chunk(offset: offset, length: count, firstLine: self.lines))
        length += count
        self.lines += lines
    }

    /// Returns the stretches to read to send some of the lines; chunks without any of them are left out.
    package func stretches(of wanted: LineSet) -> [Stretch] {
        precondition(wanted.lines == lines, "verdicts on another segment")
        guard wanted.count > 0 else { return [] }
        var stretches: [Stretch] = []
        for (index, chunk) in chunks.enumerated() {
            let end = index + 1 < chunks.count ? chunks[index + 1].firstLine : lines
            let count = wanted.count(in: chunk.firstLine..<end)
            guard count > 0 else { continue }
            let isWhole = count == end - chunk.firstLine
            if let last = stretches.last, last.offset + last.length == chunk.offset, last.isWhole == isWhole {
                stretches[stretches.count - 1].length += chunk.length
            } else {
                stretches.append(
                    Stretch(
                        offset: chunk.offset, length: chunk.length, firstLine: chunk.firstLine, isWhole: isWhole))
            }
        }
        return stretches
    }
}
