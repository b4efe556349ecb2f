// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CZlib
package import NIOCore

/// Compresses a stream to gzip piece by piece.
///
/// The output depends on the calls of ``flush(into:)``: without them a reader may wait for a long time, since deflate
/// collects some ten thousand bytes before it yields any.
package final class Deflater {
    private let stream: ZStream
    private var isFinished = false
    private static let chunkSize = 32 * 1024

    /// Creates a compressor to gzip (RFC 1952).
    ///
    /// - Parameter level: 1 (fast) to 9 (small); other values become the nearest of these.
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

    /// Compresses all of `input`; appends the bytes that are ready, perhaps none, to `output`.
    package func write(_ input: ByteBuffer, into output: inout ByteBuffer) throws(GzipError) {
        try run(input, Z_NO_FLUSH, into: &output)
    }

    /// Appends all bytes written so far in a form that the reader can decompress at once.
    ///
    /// Each flush costs a few bytes and some compression; a second flush in a row appends nothing.
    package func flush(into output: inout ByteBuffer) throws(GzipError) {
        try run(ByteBuffer(), Z_SYNC_FLUSH, into: &output)
    }

    /// Appends the rest and the checksum; nothing may be written afterwards.
    package func finish(into output: inout ByteBuffer) throws(GzipError) {
        guard !isFinished else { return }
        try run(ByteBuffer(), Z_FINISH, into: &output)
        isFinished = true
    }

    /// Returns the gzip form of a whole content.
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
            // A buffer error only means that there was nothing left to do.
            case Z_OK, Z_BUF_ERROR: break
            case Z_MEM_ERROR: throw .outOfMemory
            default: throw .corrupt
            }
        } while input.readableBytes > 0 || written == Self.chunkSize
    }
}
