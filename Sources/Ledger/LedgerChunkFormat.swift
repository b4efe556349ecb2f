// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication

/// The bytes of a chunk: a header, then the entries, one after the other.
///
/// The header has the format's version, the number of links and the bytes of a set of feeds (1 byte each), the shape's
/// tag (4) and a checksum (8). An entry has
/// - one byte: in its lower three bits the kind of what follows the id, in the others the form of the id
///   (``PackedID``),
/// - the rest of the packed id,
/// - 8 bytes: the content hash, or the time at which a tombstone was made; or nothing,
/// - the links, 8 bytes each, and the set of feeds; not for state *unknown*.
///
/// Numbers are little-endian. The id's hash is not stored: it is computed from the id.
enum LedgerChunkFormat {
    static let version: UInt8 = 1
    static let headerBytes = 15

    /// The kinds of what follows the id, as the first byte of an entry has them.
    static let heldBare: UInt8 = 0
    static let heldWithContent: UInt8 = 1
    static let tombstone: UInt8 = 2
    static let seen: UInt8 = 3
    static let unknown: UInt8 = 4
    /// The kinds like the first two, of a record that went out with a default in place of a value that could not be
    /// read.
    static let defaultedBare: UInt8 = 5
    static let defaultedWithContent: UInt8 = 6

    /// A held record whose content was sent before a push of the record, so that the device may have another by now.
    static let heldWithFormerContent: UInt8 = 7

    /// Returns the kind of a held record's entry.
    @inline(__always)
    static func held(hasContent: Bool, isFormer: Bool, isDefaulted: Bool) -> UInt8 {
        guard hasContent else { return isDefaulted ? defaultedBare : heldBare }
        return isFormer ? heldWithFormerContent : isDefaulted ? defaultedWithContent : heldWithContent
    }

    /// Returns the most bytes that an entry can have.
    static func maximumEntryBytes(_ shape: LedgerShape) -> Int { PackedID.maximumBytes + 8 + shape.tailBytes }

    /// Returns a whole chunk.
    static func chunk(of entries: UnsafeRawBufferPointer, shape: LedgerShape) -> [UInt8] {
        let count = headerBytes + entries.count
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            bytes[0] = version
            bytes[1] = UInt8(shape.links)
            bytes[2] = UInt8(shape.feedBytes)
            bytes.storeBytes(of: shape.tag.littleEndian, toByteOffset: 3, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: bytes[headerBytes..<count]).copyMemory(from: entries)
            let sum = checksum(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            bytes.storeBytes(of: sum.littleEndian, toByteOffset: 7, as: UInt64.self)
            filled = count
        }
    }

    /// Returns the shape of a chunk's entries; nil if the bytes are not a chunk, or not as they were written.
    static func shape(of bytes: UnsafeRawBufferPointer) -> LedgerShape? {
        guard bytes.count >= headerBytes, bytes[0] == version else { return nil }
        guard UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 7, as: UInt64.self)) == checksum(bytes) else {
            return nil
        }
        let tag = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 3, as: UInt32.self))
        return LedgerShape(links: bytes[1], feedBytes: bytes[2], tag: tag)
    }

    /// Returns 64 bits over everything except the checksum itself, against accidents and not against attackers.
    ///
    /// Each step is one-to-one in the sum and in the word, so damage within one word is always found; any other damage
    /// is missed with a chance of 1 in 2^64.
    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let head = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) & 0x00ff_ffff_ffff_ffff
        var sum = mixed(UInt64(truncatingIfNeeded: bytes.count), head)
        var offset = headerBytes
        while offset &+ 8 <= bytes.count {
            sum = mixed(sum, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        var last: UInt64 = 0
        while offset < bytes.count {
            last = last &<< 8 | UInt64(bytes[offset])
            offset &+= 1
        }
        return mixed(sum, last)
    }

    @inline(__always)
    private static func mixed(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        let product = (sum ^ word) &* 0x9e37_79b9_7f4a_7c15
        return product ^ product &>> 32
    }
}
