// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CZlib
package import NIOCore

/// Compresses a stream to gzip piece by piece.
///
/// What comes out depends on when ``flush(into:)`` is called: without it a reader may wait for long, since deflate
/// collects some ten thousand bytes before it gives any.
package final class Deflater {
    private let stream: ZStream
    private var isFinished = false
    private static let chunkSize = 32 * 1024

    /// A compressor to gzip (RFC 1952).
    ///
    /// - Parameter level: 1 (fast) to 9 (small); others are moved to the nearest.
    /// - Throws: ``GzipError/outOfMemory``.
    package init(level: Int = 6) throws(GzipError) {
        stream = ZStream { _ = deflateEnd($0) }
        let size = Int32(MemoryLayout<z_stream>.size)
        let level = Int32(min(max(level, 1), 9))
        // 8 is zlib's own default for the memory level.
        guard
            deflateInit2_(
                stream.raw, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { throw .outOfMemory }
    }

    /// Compresses all of `input`; what is ready is appended to `output`, which may be nothing.
    package func write(_ input: ByteBuffer, into output: inout ByteBuffer) throws(GzipError) {
        try run(input, Z_NO_FLUSH, into: &output)
    }

    /// Appends everything that has been written so far in a form that the reader can decompress at once.
    ///
    /// Each flush costs a few bytes and some compression; flushing twice in a row appends nothing new.
    package func flush(into output: inout ByteBuffer) throws(GzipError) {
        try run(ByteBuffer(), Z_SYNC_FLUSH, into: &output)
    }

    /// Appends the rest and the checksum; nothing may be written afterwards.
    package func finish(into output: inout ByteBuffer) throws(GzipError) {
        guard !isFinished else { return }
        try run(ByteBuffer(), Z_FINISH, into: &output)
        isFinished = true
    }

    /// The gzip form of one whole content.
    package static func compress(_ input: ByteBuffer, level: Int = 6) throws(GzipError) -> ByteBuffer {
        let deflater = try Deflater(level: level)
        var output = ByteBuffer()
        try deflater.write(input, into: &output)
        try deflater.finish(into: &output)
        return output
    }

    private func run(_ input: ByteBuffer, _ flush: Int32, into output: inout ByteBuffer) throws(GzipError) {
        precondition(!isFinished, "a finished gzip stream takes no more bytes")
        var input = input
        var written = 0
        repeat {
            let status: Int32
            (status, written) = stream.run(&input, into: &output, room: Self.chunkSize) { deflate($0, flush) }
            switch status {
            case Z_STREAM_END: return
            // A buffer error only says that there was nothing left to do.
            case Z_OK, Z_BUF_ERROR: break
            case Z_MEM_ERROR: throw .outOfMemory
            default: throw .corrupt
            }
        } while input.readableBytes > 0 || written == Self.chunkSize
    }
}
