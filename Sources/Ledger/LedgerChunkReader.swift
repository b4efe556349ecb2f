// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
package import LineProjection
package import SyncModel

/// A reader of the entries of one chunk in their order, which allocates no memory.
///
/// The bytes come from a file: nothing in them is relied on.
package struct LedgerChunkReader: Sendable {
    /// The shape of the chunk's entries: their parts besides id and hash.
    package let shape: LedgerShape
    private let bytes: [UInt8]
    /// The offset of the current entry; the next two are those of its id's end and of its own end.
    private var start = 0
    private var idEnd = 0
    private var end = LedgerChunkFormat.headerBytes
    private var kind = LedgerChunkFormat.unknown

    /// Creates a reader before the first entry.
    ///
    /// - Throws: ``LedgerError/damaged`` if the checksum is wrong.
    package init(_ bytes: [UInt8]) throws(LedgerError) {
        guard let shape = bytes.withUnsafeBytes({ LedgerChunkFormat.shape(of: $0) }) else { throw .damaged }
        self.shape = shape
        self.bytes = bytes
    }

    /// Creates a reader without entries.
    init() {
        shape = LedgerShape(links: 0, feeds: 0)
        bytes = []
    }

    /// Goes to the next entry and returns true, or returns false if there is none.
    ///
    /// Before the first call the reader is at no entry.
    @inline(__always)
    package mutating func next() throws(LedgerError) -> Bool {
        guard end < bytes.count else { return false }
        let bodyStart = end
        let (idBytes, kind, tailBytes) = bytes.withUnsafeBytes { all -> (Int, UInt8, Int) in
            let rest = UnsafeRawBufferPointer(rebasing: all[bodyStart...])
            let kind = rest[0] & ~PackedID.formMask
            guard kind <= LedgerChunkFormat.heldWithFormerContent, let idBytes = PackedID.length(of: rest) else {
                return (0, 0, 0)
            }
            let hasWord =
                Self.hasContent(kind) || kind == LedgerChunkFormat.tombstone
                || kind == LedgerChunkFormat.heldWithFormerContent
            let tail = (hasWord ? 8 : 0) &+ (kind == LedgerChunkFormat.unknown ? 0 : shape.tailBytes)
            return (idBytes, kind, tail)
        }
        guard idBytes > 0, bodyStart &+ idBytes &+ tailBytes <= bytes.count else { throw .damaged }
        start = bodyStart
        idEnd = bodyStart &+ idBytes
        end = idEnd &+ tailBytes
        self.kind = kind
        return true
    }

    /// Goes on to the last entry before an id, by bisection; stays if the next entry is not before it.
    ///
    /// - Parameters:
    ///   - hash: The id's hash.
    ///   - count: The number of entries from the current one on.
    ///   - key: The deployment's key of id hashes.
    /// - Returns: The number of entries that it went on by.
    /// - Throws: ``LedgerError/damaged`` if there are more entries or fewer, or one cannot be.
    mutating func skip(before hash: IDHash, entries count: Int, key: SipHash.Key) throws(LedgerError) -> Int {
        // The number comes from a head and may be any; each entry has a byte at least.
        guard (1...bytes.count).contains(count) else { throw .damaged }
        let skipped = withUnsafeTemporaryAllocation(of: Int.self, capacity: count) { offsets in
            try? skip(before: hash, entries: count, key: key, offsets: offsets)
        }
        guard let skipped else { throw .damaged }
        return skipped
    }

    private mutating func skip(
        before hash: IDHash, entries count: Int, key: SipHash.Key, offsets: UnsafeMutableBufferPointer<Int>
    ) throws(LedgerError) -> Int {
        // The entries are found by their lengths alone.
        var (rest, found) = (self, 1)
        offsets[0] = start
        while try rest.next() {
            guard found < count else { throw .damaged }
            offsets[found] = rest.start
            found += 1
        }
        guard found == count else { throw .damaged }
        var (before, behind) = (0, count)
        while behind - before > 1 {
            let middle = (before + behind) / 2
            try move(to: offsets[middle])
            if self.hash(key) < hash { before = middle } else { behind = middle }
        }
        try move(to: offsets[before])
        return before
    }

    private mutating func move(to offset: Int) throws(LedgerError) {
        end = offset
        guard try next() else { throw .damaged }
    }

    /// The state of the record.
    @inline(__always)
    package var state: LedgerState {
        switch kind {
        case LedgerChunkFormat.heldBare, LedgerChunkFormat.heldWithContent, LedgerChunkFormat.defaultedBare,
            LedgerChunkFormat.defaultedWithContent, LedgerChunkFormat.heldWithFormerContent:
            .held
        case LedgerChunkFormat.tombstone: .tombstone
        case LedgerChunkFormat.seen: .seen
        default: .unknown
        }
    }

    /// The hash of the content that the device was sent; nil if none can be trusted.
    @inline(__always)
    package var content: UInt64? { Self.hasContent(kind) ? word(at: idEnd) : nil }

    /// The hash of the content that the device was sent before a push of the record; nil if that is ``content``, or
    /// unknown.
    package var formerContent: UInt64? { kind == LedgerChunkFormat.heldWithFormerContent ? word(at: idEnd) : nil }

    @inline(__always)
    private static func hasContent(_ kind: UInt8) -> Bool {
        kind == LedgerChunkFormat.heldWithContent || kind == LedgerChunkFormat.defaultedWithContent
    }

    /// True if a held record went out with a default in place of a value that could not be read.
    @inline(__always)
    package var isDefaulted: Bool {
        kind == LedgerChunkFormat.defaultedBare || kind == LedgerChunkFormat.defaultedWithContent
    }

    /// The time at which a tombstone was made; else 0.
    @inline(__always)
    package var goneAt: Instant {
        kind == LedgerChunkFormat.tombstone ? Instant(milliseconds: Int64(bitPattern: word(at: idEnd))) : 0
    }

    /// Returns the digest of the link at an index of the chunk's shape; 0 if there is no such link.
    @inline(__always)
    package func link(_ index: Int) -> UInt64 {
        guard kind != LedgerChunkFormat.unknown, index >= 0, index < shape.links else { return 0 }
        return word(at: end &- shape.tailBytes &+ index &* 8)
    }

    /// The feeds that the record came by; empty if unknown.
    @inline(__always)
    package var feeds: FeedSet {
        guard kind != LedgerChunkFormat.unknown, shape.feedBytes > 0 else { return [] }
        var bits: UInt64 = 0
        for index in 1...shape.feedBytes { bits = bits &<< 8 | UInt64(bytes[end &- index]) }
        return FeedSet(rawValue: bits)
    }

    /// The range of the packed id in the chunk; see ``PackedID``.
    @inline(__always)
    package var packedID: Range<Int> { start..<idEnd }

    /// Passes the packed id to `body`; valid only as long as `body` runs.
    @inline(__always)
    package func withPackedID<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<idEnd])) }
    }

    /// Passes the id's text to `body`; valid only as long as `body` runs.
    ///
    /// - Precondition: The reader is at an entry.
    @inline(__always)
    package func withID<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        precondition(idEnd > start, "there is no entry before the first")
        // The bytes behind the id come along, since letters are read in words.
        return bytes.withUnsafeBytes {
            PackedID.withCheckedText(of: UnsafeRawBufferPointer(rebasing: $0[start...]), body)
        }
    }

    /// The id's text.
    package var id: String { withID { String(decoding: $0, as: UTF8.self) } }

    /// Returns the id's hash, computed with every call.
    ///
    /// - Precondition: The reader is at an entry.
    @inline(__always)
    package func hash(_ key: SipHash.Key) -> IDHash {
        precondition(idEnd > start, "there is no entry before the first")
        // As in withID, which is generic.
        return bytes.withUnsafeBytes {
            PackedID.hash(ofChecked: UnsafeRawBufferPointer(rebasing: $0[start...]), key: key)
        }
    }

    /// Returns the entry as a value.
    package func entry(_ key: SipHash.Key) -> LedgerEntry {
        LedgerEntry(
            id: id, hash: hash(key), state: state, content: content, isDefaulted: isDefaulted,
            links: state == .unknown ? [] : (0..<shape.links).map { link($0) }, feeds: feeds, goneAt: goneAt)
    }

    /// Adds the entry to others; without links and feeds if those have another shape.
    @inline(__always)
    func copyEntry(to buffer: inout LedgerEntryBuffer) {
        if shape == buffer.shape {
            bytes.withUnsafeBytes { buffer.append(copyOf: UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
            return
        }
        let (state, content, isDefaulted, goneAt) = (state, content, isDefaulted, goneAt)
        withPackedID {
            buffer.append(
                $0, isPacked: true, state: state, content: content, isDefaulted: isDefaulted,
                links: UnsafeBufferPointer(start: nil, count: 0), feeds: [], goneAt: goneAt)
        }
    }

    @inline(__always)
    private func word(at offset: Int) -> UInt64 {
        bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    }
}
