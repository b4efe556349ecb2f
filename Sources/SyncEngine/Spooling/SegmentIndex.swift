// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Where the bytes of one segment lie in the spool.
package struct SegmentIndex: Hashable, Sendable {
    /// One stretch of spooled bytes.
    package struct Extent: Hashable, Sendable {
        /// Where it lies in the spool.
        package var offset: UInt64
        /// How many bytes it has.
        package var length: UInt64
        /// An extent.
        package init(offset: UInt64, length: UInt64) {
            self.offset = offset
            self.length = length
        }
    }

    private var extents: [Extent] = []
    /// The bytes of all extents together.
    package private(set) var length: UInt64 = 0

    /// An empty segment.
    package init() {}

    mutating func append(length count: UInt64, offset: UInt64) {
        guard count > 0 else { return }
        length += count
        if let last = extents.last, last.offset + last.length == offset {
            extents[extents.count - 1].length += count
        } else {
            extents.append(Extent(offset: offset, length: count))
        }
    }

    /// What is left when the holes are skipped, without the very first comma: ready to stand between `[` and `]`.
    package func live(without holes: [Compaction.Hole]) -> [Extent] {
        var live: [Extent] = []
        var start: UInt64 = 0
        var holes = holes[...]
        for extent in extents {
            var position = start
            let end = start + extent.length
            while position < end {
                let next = holes.first.map { min(max($0.position, position), end) } ?? end
                if next > position {
                    append(Extent(offset: extent.offset + (position - start), length: next - position), to: &live)
                }
                position = next
                // An element never spans two chunks, so neither does a hole.
                if let hole = holes.first, hole.position < end {
                    position = hole.position + UInt64(hole.length)
                    holes.removeFirst()
                }
            }
            start = end
        }
        if !live.isEmpty {
            live[0].offset += 1
            live[0].length -= 1
        }
        return live
    }

    private func append(_ extent: Extent, to live: inout [Extent]) {
        if let last = live.last, last.offset + last.length == extent.offset {
            live[live.count - 1].length += extent.length
        } else {
            live.append(extent)
        }
    }
}
