// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CZlib

/// An encoder that compresses a body as it is written, without flushing in between, as usual middleware does.
final class GzipEncoder {
    /// The stream is on the heap, since zlib remembers its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let isReady: Bool

    init() {
        stream.initialize(to: z_stream())
        let windowBitsForGzip: Int32 = 15 + 16
        isReady =
            deflateInit2_(
                stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBitsForGzip, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Returns the compressed output for these bytes, which may be empty; at the end, all remaining output.
    func encode(_ bytes: [UInt8], isEnd: Bool) throws -> [UInt8] {
        guard isReady else { throw DemoError.internal("zlib cannot start") }
        var input = bytes
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 32 << 10)
        input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            repeat {
                let room = buffer.count
                buffer.withUnsafeMutableBufferPointer { buffer in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(buffer.count)
                    deflate(stream, isEnd ? Z_FINISH : Z_NO_FLUSH)
                }
                output.append(contentsOf: buffer[..<(room - Int(stream.pointee.avail_out))])
            } while stream.pointee.avail_out == 0
        }
        return output
    }
}
