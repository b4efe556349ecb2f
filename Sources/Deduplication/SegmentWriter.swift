// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Gathers the bytes of one segment into chunks and remembers the offset of each chunk in the spool.
package struct SegmentWriter: Sendable {
    /// The size at which a chunk is handed over, in bytes.
    package static let chunkSize = 64 * 1024

    private var buffer: [UInt8] = []
    private var bufferedLines = 0
    private var index = SegmentIndex()

    /// Creates a writer of an empty segment.
    package init() {}

    /// The number of elements that were appended.
    package var lines: Int { index.lines + bufferedLines }

    /// True if the chunk should be handed over.
    package var isFull: Bool { buffer.count >= Self.chunkSize }

    /// True if any bytes are left to hand over.
    package var hasRest: Bool { !buffer.isEmpty }

    /// The memory of the writer, in bytes, approximately.
    var byteCount: Int { buffer.capacity + index.byteCount }

    /// Appends one element of the JSON array behind its separator.
    ///
    /// - Parameter element: JSON without a raw newline: newlines number the elements (``LinePicker``).
    /// - Returns: The element's number, from 0.
    @discardableResult
    package mutating func append(_ element: UnsafeRawBufferPointer) -> UInt32 {
        let line = UInt32(truncatingIfNeeded: lines)
        if buffer.isEmpty { buffer.reserveCapacity(Self.chunkSize + element.count + 2) }
        buffer.append(UInt8(ascii: ","))
        buffer.append(UInt8(ascii: "\n"))
        buffer.append(contentsOf: element)
        bufferedLines += 1
        return line
    }

    /// Appends an id as a JSON string; a safe id needs no escapes.
    package mutating func append(id: UnsafeRawBufferPointer) {
        if buffer.isEmpty { buffer.reserveCapacity(id.count + 4) }
        buffer.append(contentsOf: [UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\"")])
        buffer.append(contentsOf: id)
        buffer.append(UInt8(ascii: "\""))
        bufferedLines += 1
    }

    /// Hands the gathered bytes over; they belong at `offset` of the spool.
    package mutating func takeChunk(storedAt offset: UInt64) -> [UInt8] {
        index.append(length: UInt64(buffer.count), lines: bufferedLines, offset: offset)
        defer {
            buffer = []
            bufferedLines = 0
        }
        // A small rest may be kept for a while; the room that was reserved for a whole chunk is not.
        return buffer.count < Self.chunkSize / 2 ? Array(buffer[...]) : buffer
    }

    /// Returns the offsets of all chunks; no bytes may be left in the buffer.
    package func finished() -> SegmentIndex {
        precondition(buffer.isEmpty, "a segment's last chunk was not handed over")
        return index
    }
}
