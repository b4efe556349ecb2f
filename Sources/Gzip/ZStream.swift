// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CZlib
import NIOCore

/// The state that zlib keeps for one stream, at an address that never changes.
///
/// zlib stores the address of its own stream and refuses one that has moved, so it lives on the heap.
final class ZStream {
    /// One call of zlib: reads from `input` and advances it, and writes at most `room` bytes to the end of `output`.
    typealias Step = (UnsafeMutablePointer<z_stream>) -> Int32

    let raw: UnsafeMutablePointer<z_stream>
    private let end: (UnsafeMutablePointer<z_stream>) -> Void

    init(end: @escaping (UnsafeMutablePointer<z_stream>) -> Void) {
        raw = .allocate(capacity: 1)
        raw.initialize(to: z_stream())
        self.end = end
    }

    deinit {
        end(raw)
        raw.deinitialize(count: 1)
        raw.deallocate()
    }

    /// Runs `step` once over the readable bytes of `input`, and writes its output to `output`.
    ///
    /// - Returns: The result of zlib, and the number of bytes of output.
    func run(
        _ input: inout ByteBuffer, into output: inout ByteBuffer, room: Int, _ step: Step
    ) -> (status: Int32, written: Int) {
        var status = Z_OK
        var written = 0
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { target in
            input.readWithUnsafeReadableBytes { source in
                // avail_in and avail_out are 32 bits wide; the caller calls again for the rest.
                let offered = UInt32(clamping: source.count)
                let space = UInt32(clamping: min(room, target.count))
                // zlib never writes through next_in; the cast only drops const.
                raw.pointee.next_in = UnsafeMutablePointer(
                    mutating: source.baseAddress?.assumingMemoryBound(to: UInt8.self))
                raw.pointee.avail_in = offered
                raw.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
                raw.pointee.avail_out = space
                status = step(raw)
                written = Int(space - raw.pointee.avail_out)
                return Int(offered - raw.pointee.avail_in)
            }
            raw.pointee.next_in = nil
            raw.pointee.next_out = nil
            return written
        }
        return (status, written)
    }
}
