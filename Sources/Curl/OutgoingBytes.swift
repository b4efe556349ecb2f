// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Bytes on their way to libcurl, which wants to see the very same ones again if it could not send them.
struct OutgoingBytes: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer?
    private var range = 0..<0

    deinit { memory?.deallocate() }

    var isEmpty: Bool { range.isEmpty }
    var count: Int { range.count }
    var start: UnsafeMutableRawPointer? { memory?.baseAddress.map { $0 + range.lowerBound } }

    mutating func set(_ bytes: [UInt8]) {
        allocate(bytes.count).copyBytes(from: bytes)
        range = 0..<bytes.count
    }

    /// Takes the next bytes from `read`; keeps no memory if there are none.
    mutating func fill(
        upTo limit: Int, _ read: (UnsafeMutableRawBufferPointer) -> UploadChannel.Reading
    ) -> UploadChannel.Reading {
        let reading = read(allocate(limit))
        guard case .bytes(let count) = reading else {
            free()
            return reading
        }
        range = 0..<count
        return reading
    }

    mutating func drop(_ count: Int) {
        range = range.lowerBound + count..<range.upperBound
        if range.isEmpty, memory?.count != UpgradeTransfer.pieceSize { free() }
    }

    private mutating func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if let memory, memory.count == count { return memory }
        free()
        let new = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        memory = new
        return new
    }

    private mutating func free() {
        memory?.deallocate()
        memory = nil
        range = 0..<0
    }
}
