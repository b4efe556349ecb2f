// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The layout of an entry in a stored run: the entry as it is in memory, then its details.
///
/// The details are the number of bytes of the packed id and the number of links (two bytes each), the id, the links.
/// Runs are read by the process that wrote them and by no other.
enum EntryCoding {
    /// The number of bytes of an entry without its details.
    static let entrySize = MemoryLayout<DeduplicationEntry>.size
    private static let headSize = 4

    /// Returns the number of bytes of an entry with its details.
    static func length(of entry: DeduplicationEntry, in arena: UnsafeRawBufferPointer) -> Int {
        entry.detail == DeduplicationEntry.noDetail
            ? entrySize : entrySize &+ detailLength(at: Int(entry.detail), in: arena)
    }

    /// Returns the number of bytes of the details at an offset.
    @inline(__always)
    static func detailLength(at offset: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        let (id, links) = head(at: offset, in: bytes)
        return headSize &+ id &+ links &* 8
    }

    @inline(__always)
    private static func head(at offset: Int, in bytes: UnsafeRawBufferPointer) -> (id: Int, links: Int) {
        let head = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        return (Int(head & 0xffff), Int(head &>> 16))
    }

    /// Returns the room that writing details may need, in bytes; more than the details take.
    static func room(links: Int) -> Int { headSize &+ PackedID.maximumBytes &+ PackedID.slack &+ links &* 8 }

    /// Packs an id, writes the details into ``room(links:)`` bytes and returns the number of bytes that they have.
    @inline(__always)
    static func write(
        _ id: UnsafeRawBufferPointer, _ links: [UInt64], to bytes: UnsafeMutableRawBufferPointer, at start: Int
    ) -> Int {
        guard let details = bytes.baseAddress.map({ $0 + start }) else { return 0 }
        let packed = PackedID.write(id, to: details + headSize)
        let head = UInt32(truncatingIfNeeded: packed) | UInt32(UInt16(links.count)) &<< 16
        details.storeBytes(of: head.littleEndian, as: UInt32.self)
        var end = headSize &+ packed
        for link in links {
            details.storeBytes(of: link.littleEndian, toByteOffset: end, as: UInt64.self)
            end &+= 8
        }
        return end
    }

    /// Returns entries with their details, `length` bytes altogether.
    static func bytes(of entries: ArraySlice<DeduplicationEntry>, arena: [UInt8], length: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            let piece = UnsafeMutableRawBufferPointer(buffer)
            arena.withUnsafeBytes { arena in
                var offset = 0
                for entry in entries {
                    var entry = entry
                    var details = UnsafeRawBufferPointer(start: nil, count: 0)
                    if entry.detail != DeduplicationEntry.noDetail {
                        let start = Int(entry.detail)
                        details = UnsafeRawBufferPointer(
                            rebasing: arena[start..<start &+ detailLength(at: start, in: arena)])
                    }
                    entry.detail = UInt32(details.count)
                    withUnsafeBytes(of: &entry) { bytes in
                        UnsafeMutableRawBufferPointer(rebasing: piece[offset...])
                            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(entrySize)))
                    }
                    offset &+= entrySize
                    guard !details.isEmpty else { continue }
                    UnsafeMutableRawBufferPointer(rebasing: piece[offset...]).copyMemory(from: details)
                    offset &+= details.count
                }
                count = offset
            }
        }
    }

    /// Reads packed id and links into arrays that are reused; both are emptied if the entry has no details.
    static func read(_ details: UnsafeRawBufferPointer, packedID: inout [UInt8], links: inout [UInt64]) {
        guard details.count >= headSize, details.count == detailLength(at: 0, in: details) else {
            packedID.removeAll(keepingCapacity: true)
            links.removeAll(keepingCapacity: true)
            return
        }
        let (idBytes, linkCount) = head(at: 0, in: details)
        // Ids mostly have the same length, and all rows of a table the same number of links: nothing is resized then.
        if packedID.count != idBytes { packedID = Array(repeating: 0, count: idBytes) }
        let end = headSize &+ idBytes
        packedID.withUnsafeMutableBytes {
            $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: details[headSize..<end]))
        }
        if links.count != linkCount { links = Array(repeating: 0, count: linkCount) }
        for index in 0..<linkCount {
            links[index] = UInt64(
                littleEndian: details.loadUnaligned(fromByteOffset: end &+ index &* 8, as: UInt64.self))
        }
    }
}
