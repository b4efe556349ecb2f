// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Comparisons of memory.
package enum RawBytes {
    /// Returns whether both buffers hold the same bytes; faster than `elementsEqual` for short ones.
    @inline(__always)
    package static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return left.isEmpty }
        return areEqual(leftBase, rightBase, count: left.count)
    }

    /// Returns whether `count` bytes at both addresses are the same.
    @inline(__always)
    package static func areEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, count: Int) -> Bool {
        if count >= 8 {
            var offset = 0
            while offset &+ 8 <= count {
                if left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                {
                    return false
                }
                offset &+= 8
            }
            // The last word overlaps bytes that were compared already.
            let last = count &- 8
            return left.loadUnaligned(fromByteOffset: last, as: UInt64.self)
                == right.loadUnaligned(fromByteOffset: last, as: UInt64.self)
        }
        if count >= 4 {
            let last = count &- 4
            return left.loadUnaligned(as: UInt32.self) == right.loadUnaligned(as: UInt32.self)
                && left.loadUnaligned(fromByteOffset: last, as: UInt32.self)
                    == right.loadUnaligned(fromByteOffset: last, as: UInt32.self)
        }
        var offset = 0
        while offset < count {
            if left.load(fromByteOffset: offset, as: UInt8.self) != right.load(fromByteOffset: offset, as: UInt8.self) {
                return false
            }
            offset &+= 1
        }
        return true
    }

    /// Copies `count` bytes between addresses that do not overlap; faster than a call of `memcpy` for short texts.
    @inline(__always)
    static func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
        if count > 64 { return target.copyMemory(from: source, byteCount: count) }
        if count >= 8 {
            var offset = 0
            while offset &+ 8 < count {
                copyWord(of: UInt64.self, source, to: target, at: offset)
                offset &+= 8
            }
            // The last word overlaps bytes that were copied already.
            return copyWord(of: UInt64.self, source, to: target, at: count &- 8)
        }
        if count >= 4 {
            copyWord(of: UInt32.self, source, to: target, at: 0)
            return copyWord(of: UInt32.self, source, to: target, at: count &- 4)
        }
        var offset = 0
        while offset < count {
            copyWord(of: UInt8.self, source, to: target, at: offset)
            offset &+= 1
        }
    }

    @inline(__always)
    private static func copyWord<Word: BitwiseCopyable>(
        of type: Word.Type, _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, at offset: Int
    ) {
        target.storeBytes(of: source.loadUnaligned(fromByteOffset: offset, as: type), toByteOffset: offset, as: type)
    }
}
