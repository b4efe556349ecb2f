// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncModel

/// Entries of one shape as bytes, one after the other.
struct LedgerEntryBuffer: Sendable {
    let shape: LedgerShape
    /// The most bytes that an entry needs, and room for writing in words.
    private let reserve: Int
    /// The bytes of the entries, followed by room for more.
    private var bytes: [UInt8] = []
    private(set) var count = 0

    init(shape: LedgerShape) {
        self.shape = shape
        reserve = LedgerChunkFormat.maximumEntryBytes(shape) + PackedID.slack
    }

    /// Returns a chunk of the entries between two offsets, at which entries begin.
    func chunk(_ range: Range<Int>) -> [UInt8] {
        bytes.withUnsafeBytes {
            LedgerChunkFormat.chunk(of: UnsafeRawBufferPointer(rebasing: $0[range]), shape: shape)
        }
    }

    /// Forgets all entries.
    mutating func removeAll() { count = 0 }

    /// Forgets the entries before an offset.
    mutating func removeFirst(_ dropped: Int) {
        let kept = count - dropped
        bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress, kept > 0 else { return }
            base.copyMemory(from: base + dropped, byteCount: kept)
        }
        count = kept
    }

    /// Adds an entry by its id's text or packed id; missing links are 0.
    @inline(__always)
    mutating func append(
        _ id: UnsafeRawBufferPointer, isPacked: Bool, state: LedgerState, content: UInt64?,
        isFormer: Bool = false, isDefaulted: Bool, links: UnsafeBufferPointer<UInt64>, feeds: FeedSet, goneAt: Instant
    ) {
        precondition(links.count <= shape.links, "an entry has no more links than its table")
        makeRoom()
        let start = count
        let shape = shape
        count &+= bytes.withUnsafeMutableBytes { buffer -> Int in
            guard let entry = buffer.baseAddress.map({ $0 + start }) else { return 0 }
            var end = Self.writeID(id, isPacked: isPacked, to: entry)
            let tail: UInt8
            switch state {
            case .held:
                // What a default stands for says more than what it has replaced.
                let content = isFormer && isDefaulted ? nil : content
                tail = LedgerChunkFormat.held(
                    hasContent: content != nil, isFormer: isFormer, isDefaulted: isDefaulted)
                if let content { Self.write(content, at: &end, of: entry) }
            case .tombstone:
                tail = LedgerChunkFormat.tombstone
                Self.write(UInt64(bitPattern: goneAt.milliseconds), at: &end, of: entry)
            case .seen: tail = LedgerChunkFormat.seen
            case .unknown: tail = LedgerChunkFormat.unknown
            }
            let form = entry.load(as: UInt8.self) & PackedID.formMask
            entry.storeBytes(of: form | tail, as: UInt8.self)
            guard state != .unknown else { return end }
            for index in 0..<shape.links { Self.write(index < links.count ? links[index] : 0, at: &end, of: entry) }
            // The bytes behind the set belong to the next entry, which is written later.
            if shape.feedBytes > 0 { (entry + end).storeBytes(of: feeds.rawValue.littleEndian, as: UInt64.self) }
            return end &+ shape.feedBytes
        }
    }

    /// Adds a copy of the bytes of an entry of the same shape.
    @inline(__always)
    mutating func append(copyOf entry: UnsafeRawBufferPointer) {
        makeRoom()
        let start = count
        bytes.withUnsafeMutableBytes { buffer in
            guard let target = buffer.baseAddress, let source = entry.baseAddress else { return }
            (target + start).copyMemory(from: source, byteCount: entry.count)
        }
        count &+= entry.count
    }

    @inline(__always)
    private mutating func makeRoom() {
        if bytes.count &- count < reserve { grow() }
    }

    @inline(never)
    private mutating func grow() {
        let room = max(bytes.count, reserve, 1 << 10)
        bytes.append(contentsOf: repeatElement(0, count: room))
    }

    @inline(__always)
    private static func writeID(
        _ id: UnsafeRawBufferPointer, isPacked: Bool, to entry: UnsafeMutableRawPointer
    ) -> Int {
        guard isPacked else { return PackedID.write(id, to: entry) }
        guard let source = id.baseAddress, id.count <= PackedID.maximumBytes else {
            preconditionFailure("a packed id has 2 to 257 bytes")
        }
        entry.copyMemory(from: source, byteCount: id.count)
        return id.count
    }

    @inline(__always)
    private static func write(_ word: UInt64, at end: inout Int, of entry: UnsafeMutableRawPointer) {
        (entry + end).storeBytes(of: word.littleEndian, as: UInt64.self)
        end &+= 8
    }
}
