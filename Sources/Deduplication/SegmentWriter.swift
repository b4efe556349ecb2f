// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Gathers the bytes of one segment into chunks and remembers the offset of each chunk in the spool.
package struct SegmentWriter: Sendable {
    /// The most bytes of a chunk; only one with a single element may have more.
    ///
    /// Answers are sent in pieces of this size, so that a chunk in memory is one of them, without a copy.
    package static let chunkSize = 64 * 1024

    /// A chunk that is full, and waits to be handed over.
    private struct Chunk: Sendable {
        var bytes: [UInt8]
        var lines: Int
    }

    private var full: [Chunk] = []
    private var buffer: [UInt8] = []
    private var bufferedLines = 0
    private var index = SegmentIndex()

    /// Creates a writer of an empty segment.
    package init() {}

    /// The number of elements that were appended.
    package private(set) var lines = 0

    /// True if a chunk should be handed over.
    package var isFull: Bool { !full.isEmpty }

    /// True if any bytes are left to hand over.
    package var hasRest: Bool { !full.isEmpty || !buffer.isEmpty }

    /// The memory of the writer, in bytes, approximately.
    var byteCount: Int { full.reduce(buffer.capacity + index.byteCount) { $0 + $1.bytes.capacity } }

    /// Appends one element of the JSON array behind its separator.
    ///
    /// - Parameter element: JSON without a raw newline: newlines number the elements (``LinePicker``).
    /// - Returns: The element's number, from 0.
    @discardableResult
    package mutating func append(_ element: UnsafeRawBufferPointer) -> UInt32 {
        let line = UInt32(truncatingIfNeeded: lines)
        makeRoom(for: element.count + 2)
        // Never grown: that would double it.
        if buffer.isEmpty { buffer.reserveCapacity(max(Self.chunkSize, element.count + 2)) }
        buffer.append(UInt8(ascii: ","))
        buffer.append(UInt8(ascii: "\n"))
        buffer.append(contentsOf: element)
        endElement()
        return line
    }

    /// Appends an id as a JSON string; a safe id needs no escapes.
    package mutating func append(id: UnsafeRawBufferPointer) {
        makeRoom(for: id.count + 4)
        // Most segments of ids are small.
        if buffer.isEmpty { buffer.reserveCapacity(id.count + 4) }
        buffer.append(contentsOf: [UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\"")])
        buffer.append(contentsOf: id)
        buffer.append(UInt8(ascii: "\""))
        endElement()
    }

    /// Ends the chunk if it has no room for an element.
    private mutating func makeRoom(for count: Int) {
        if buffer.count &+ count > Self.chunkSize, !buffer.isEmpty { endChunk() }
    }

    private mutating func endElement() {
        lines += 1
        bufferedLines += 1
        if buffer.count >= Self.chunkSize { endChunk() }
    }

    private mutating func endChunk() {
        full.append(Chunk(bytes: buffer, lines: bufferedLines))
        buffer = []
        bufferedLines = 0
    }

    /// Hands the oldest chunk over, or what there is of the one that is not full; it belongs at `offset` of the spool.
    package mutating func takeChunk(storedAt offset: UInt64) -> [UInt8] {
        if full.isEmpty { endChunk() }
        let chunk = full.removeFirst()
        index.append(length: UInt64(chunk.bytes.count), lines: chunk.lines, offset: offset)
        // A small rest may be kept for a while; the room that was reserved for a whole chunk is not.
        return chunk.bytes.count < Self.chunkSize / 2 ? Array(chunk.bytes[...]) : chunk.bytes
    }

    /// Returns the offsets of all chunks; no bytes may be left to hand over.
    package func finished() -> SegmentIndex {
        precondition(!hasRest, "a segment's last chunk was not handed over")
        return index
    }
}
