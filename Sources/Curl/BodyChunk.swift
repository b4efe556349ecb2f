// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import NIOCore

/// Gathers the pieces of a body, of which libcurl hands over up to 16 KiB at a time, into chunks for the reader.
struct BodyChunk {
    /// The most bytes of a chunk that has more than one piece.
    static let size = 64 * 1024

    private var bytes = ByteBuffer()
    /// True if the body has filled a chunk.
    private var isLong = false

    /// Returns false if the chunk must be taken before so many bytes are appended.
    func hasRoom(for count: Int) -> Bool { bytes.readableBytes == 0 || bytes.readableBytes + count <= Self.size }

    /// Appends a piece.
    mutating func append(_ piece: UnsafeRawBufferPointer) {
        // A buffer that grows is copied, and a short body needs no room for a whole chunk.
        if isLong || bytes.readableBytes > 0 { bytes.reserveCapacity(Self.size) }
        bytes.writeBytes(piece)
    }

    /// Returns the gathered bytes and begins the next chunk; nil if there are none.
    mutating func take() -> ByteBuffer? {
        guard bytes.readableBytes > 0 else { return nil }
        isLong = isLong || !hasRoom(for: Int(CURL_MAX_WRITE_SIZE))
        defer { bytes = ByteBuffer() }
        return bytes
    }
}
