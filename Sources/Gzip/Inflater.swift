// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CZlib
package import NIOCore

/// Decompresses a stream piece by piece, and stops as soon as the output exceeds the limit.
///
/// Memory is bounded for any input: each call returns at most one chunk, so a bomb is never unpacked at once. Several
/// gzip members in a row are one stream (RFC 1952, 2.2); zero bytes between and after them are padding and skipped,
/// anything else there is an error.
package final class Inflater {
    /// The format around the compressed bytes.
    package enum Format: Hashable, Sendable {
        /// RFC 1952, the meaning of `Content-Encoding: gzip`.
        case gzip
        /// The meaning of `Content-Encoding: deflate`: zlib (RFC 1950) by the standard, raw deflate by some peers.
        case deflate
        /// Either gzip or zlib, detected from the first bytes.
        case automatic
    }

    /// The position in the stream.
    private enum State {
        /// No byte has come yet.
        case start
        /// The first byte of a `deflate` stream came alone; distinguishing zlib from raw deflate takes two.
        case firstByte(UInt8)
        case inside
        /// A member is complete; another one may follow.
        case betweenMembers
        case failed(GzipError)
    }

    /// The most bytes that one call returns.
    package let chunkSize: Int
    /// The number of bytes of output so far.
    package private(set) var totalOutput = 0

    private let format: Format
    private let limit: Int
    private let stream: ZStream
    private var state = State.start
    /// True if the last chunk was full, so that zlib may hold more output although it has no input left.
    private var isOutputPending = false
    private var allowsMembers: Bool { format != .deflate }

    /// Creates an inflater that returns at most `limit` bytes in all.
    ///
    /// - Parameters:
    ///   - format: The format around the compressed bytes.
    ///   - limit: In bytes of output; exactly this many are still allowed.
    ///   - chunkSize: In bytes; the most that one call of ``next(from:)`` returns.
    /// - Throws: ``GzipError/outOfMemory``.
    package init(_ format: Format = .gzip, limit: Int, chunkSize: Int = 64 * 1024) throws(GzipError) {
        self.format = format
        self.limit = limit
        self.chunkSize = max(1, chunkSize)
        stream = ZStream { _ = inflateEnd($0) }
        let window: Int32 =
            switch format {
            case .gzip: MAX_WBITS + 16
            case .deflate: MAX_WBITS
            case .automatic: MAX_WBITS + 32
            }
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream.raw, window, ZLIB_VERSION, size) == Z_OK else { throw .outOfMemory }
    }

    /// Takes bytes from `input` and returns the next chunk of the content, or nil if it needs more input.
    ///
    /// Call it until it returns nil; `input` is then used up. Once it has thrown an error, it throws the same one
    /// again.
    ///
    /// - Throws: ``GzipError/outputTooLarge(limit:)`` before anything beyond the limit is returned,
    ///   ``GzipError/corrupt``.
    package func next(from input: inout ByteBuffer) throws(GzipError) -> ByteBuffer? {
        if case .failed(let error) = state { throw error }
        do {
            return try step(&input)
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Checks that the input may end here.
    ///
    /// No bytes at all count as an empty content: servers label empty bodies as gzip, too.
    ///
    /// - Throws: ``GzipError/truncated`` in the middle of a member.
    package func finish() throws(GzipError) {
        switch state {
        case .start, .betweenMembers: return
        case .failed(let error): throw error
        case .firstByte, .inside: throw .truncated
        }
    }

    private func step(_ input: inout ByteBuffer) throws(GzipError) -> ByteBuffer? {
        var output = ByteBuffer()
        while input.readableBytes > 0 || isOutputPending {
            guard try enterMember(&input) else { return nil }
            // One byte more than allowed is requested, so that the limit itself is not an error.
            let left = limit - totalOutput
            let room = left < chunkSize ? left + 1 : chunkSize
            let (status, written) = stream.run(&input, into: &output, room: room) { inflate($0, Z_NO_FLUSH) }
            isOutputPending = written == room
            totalOutput += written
            guard totalOutput <= limit else { throw .outputTooLarge(limit: limit) }
            switch status {
            case Z_OK: break
            // No progress was possible: zlib waits for input.
            case Z_BUF_ERROR: return written > 0 ? output : nil
            case Z_STREAM_END: state = .betweenMembers
            case Z_MEM_ERROR: throw .outOfMemory
            default: throw .corrupt
            }
            if written > 0 { return output }
        }
        return nil
    }

    /// Enters the member that `input` begins with; returns false if that takes more bytes.
    private func enterMember(_ input: inout ByteBuffer) throws(GzipError) -> Bool {
        switch state {
        case .inside: return true
        case .failed(let error): throw error
        case .start:
            guard format == .deflate else { break }
            guard input.readableBytes > 1 else {
                if let byte = input.readInteger(as: UInt8.self) { state = .firstByte(byte) }
                return false
            }
            try chooseWrapper(input.getBytes(at: input.readerIndex, length: 2) ?? [])
        case .firstByte(let byte):
            guard let second = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return false }
            try chooseWrapper([byte, second])
            var first = ByteBuffer(bytes: [byte])
            var none = ByteBuffer()
            let (status, _) = stream.run(&first, into: &none, room: 1) { inflate($0, Z_NO_FLUSH) }
            guard status == Z_OK || status == Z_BUF_ERROR else { throw .corrupt }
        case .betweenMembers:
            while input.getInteger(at: input.readerIndex, as: UInt8.self) == 0 { input.moveReaderIndex(forwardBy: 1) }
            guard input.readableBytes > 0 else { return false }
            guard allowsMembers, inflateReset(stream.raw) == Z_OK else { throw .corrupt }
        }
        state = .inside
        return true
    }

    /// Switches to raw deflate unless the bytes are zlib's header (RFC 1950, 2.2).
    private func chooseWrapper(_ bytes: [UInt8]) throws(GzipError) {
        let isZlib = bytes[0] & 15 == 8 && (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0
        guard isZlib || inflateReset2(stream.raw, -MAX_WBITS) == Z_OK else { throw .corrupt }
    }
}
