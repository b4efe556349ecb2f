// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Gathers the bytes of one segment into chunks and remembers where each chunk was put.
package struct SegmentWriter: Sendable {
    /// How large a chunk grows before it is handed over, in bytes.
    package static let chunkSize = 64 * 1024

    private var buffer: [UInt8] = []
    private var index = SegmentIndex()

    /// An empty segment.
    package init() {}

    /// How many bytes were appended.
    package var length: UInt64 { index.length + UInt64(buffer.count) }

    /// Whether the chunk should be handed over.
    package var isFull: Bool { buffer.count >= Self.chunkSize }

    /// Whether there is anything to hand over.
    package var hasRest: Bool { !buffer.isEmpty }

    /// Appends one element of the JSON array with the comma before it; returns where it begins and how long it is.
    package mutating func append(_ element: UnsafeRawBufferPointer) -> (position: UInt64, length: UInt32) {
        let position = length
        if buffer.isEmpty { buffer.reserveCapacity(Self.chunkSize + element.count + 1) }
        buffer.append(UInt8(ascii: ","))
        buffer.append(contentsOf: element)
        return (position, UInt32(element.count + 1))
    }

    /// Hands the gathered bytes over; they belong at `offset` of the spool.
    package mutating func takeChunk(storedAt offset: UInt64) -> [UInt8] {
        index.append(length: UInt64(buffer.count), offset: offset)
        defer { buffer = [] }
        // A small rest may be kept for a while; the room that was reserved for a whole chunk is not.
        return buffer.count < Self.chunkSize / 2 ? Array(buffer[...]) : buffer
    }

    /// Where everything lies; nothing may be left in the buffer.
    package func finished() -> SegmentIndex {
        precondition(buffer.isEmpty, "a segment's last chunk was not handed over")
        return index
    }
}
