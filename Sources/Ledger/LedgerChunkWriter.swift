// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A writer that makes the chunks of one table of one layer from entries that come in the order of their hashes.
///
/// After each entry, take away what ``takeFullChunk()`` returns, and at the end what ``takeRest()`` returns.
package struct LedgerChunkWriter: Sendable {
    /// The usual maximum: with its number a chunk fits into a page of the state in SQLite, and into a row of PostgreSQL
    /// that is kept whole.
    ///
    /// A lookup reads a chunk, and a compaction rewrites those that it touches.
    package static let defaultMaximumBytes = 1_990

    /// The client's table.
    package let table: String
    /// The shape of the entries: their parts besides id and hash.
    package let shape: LedgerShape
    /// The most bytes of a chunk; only a chunk with a single entry may have more.
    package let maximumBytes: Int
    /// The size of what was added so far; its bytes are those of finished chunks.
    package private(set) var count = LedgerCount()

    private var buffer: LedgerEntryBuffer
    private var entries = 0
    private var first = IDHash.first
    private var last: IDHash?
    private var full: [LedgerChunk] = []

    /// Creates a writer without entries.
    package init(table: String, shape: LedgerShape, maximumBytes: Int = LedgerChunkWriter.defaultMaximumBytes) {
        self.table = table
        self.shape = shape
        self.maximumBytes = maximumBytes
        buffer = LedgerEntryBuffer(shape: shape)
    }

    /// Adds an entry by the text of its id, of 1…255 bytes.
    ///
    /// - Precondition: The hash is greater than the one before; there are no more links than the shape has. Missing
    ///   links are 0. Parts that a state does not store (a tombstone's content, an unknown record's links) are left
    ///   out.
    @inline(__always)
    package mutating func append(
        id: UnsafeRawBufferPointer, hash: IDHash, state: LedgerState, content: UInt64? = nil,
        isDefaulted: Bool = false, links: UnsafeBufferPointer<UInt64> = UnsafeBufferPointer(start: nil, count: 0),
        feeds: FeedSet = [], goneAt: Instant = 0
    ) {
        let start = buffer.count
        buffer.append(
            id, isPacked: false, state: state, content: content, isDefaulted: isDefaulted, links: links,
            feeds: feeds, goneAt: goneAt)
        close(from: start, hash: hash, isHeld: state == .held)
    }

    /// Adds an entry by its packed id, as a reader returns it, possibly with a content that was sent before a push of
    /// the record; otherwise like
    /// ``append(id:hash:state:content:links:feeds:goneAt:)``.
    @inline(__always)
    package mutating func append(
        packed id: UnsafeRawBufferPointer, hash: IDHash, state: LedgerState, content: UInt64? = nil,
        isFormer: Bool = false, isDefaulted: Bool = false,
        links: UnsafeBufferPointer<UInt64> = UnsafeBufferPointer(start: nil, count: 0),
        feeds: FeedSet = [], goneAt: Instant = 0
    ) {
        let start = buffer.count
        buffer.append(
            id, isPacked: true, state: state, content: content, isFormer: isFormer, isDefaulted: isDefaulted,
            links: links, feeds: feeds, goneAt: goneAt)
        close(from: start, hash: hash, isHeld: state == .held)
    }

    /// Adds an entry as a value.
    package mutating func append(_ entry: LedgerEntry) {
        var id = entry.id
        id.withUTF8 { id in
            entry.links.withUnsafeBufferPointer { links in
                append(
                    id: UnsafeRawBufferPointer(id), hash: entry.hash, state: entry.state, content: entry.content,
                    isDefaulted: entry.isDefaulted, links: links, feeds: entry.feeds, goneAt: entry.goneAt)
            }
        }
    }

    /// Adds the entry that a reader is at; without links and feeds if its chunk has another shape.
    @inline(__always)
    package mutating func append(entryOf reader: borrowing LedgerChunkReader, hash: IDHash) {
        let start = buffer.count
        reader.copyEntry(to: &buffer)
        close(from: start, hash: hash, isHeld: reader.state == .held)
    }

    /// Adds an entry of state *unknown* for the id that a reader is at: the id was not there.
    package mutating func append(unknownIDOf reader: borrowing LedgerChunkReader, hash: IDHash) {
        let start = buffer.count
        reader.withPackedID {
            buffer.append(
                $0, isPacked: true, state: .unknown, content: nil, isDefaulted: false,
                links: UnsafeBufferPointer(start: nil, count: 0), feeds: [], goneAt: 0)
        }
        close(from: start, hash: hash, isHeld: false)
    }

    /// Removes and returns the oldest full chunk that was not taken yet; nil if there is none.
    @inline(__always)
    package mutating func takeFullChunk() -> LedgerChunk? { full.isEmpty ? nil : full.removeFirst() }

    /// Ends the last chunk and returns the oldest chunk; call it until it returns nil, since full chunks come first.
    ///
    /// The order of hashes goes on.
    package mutating func takeRest() -> LedgerChunk? {
        endChunk(at: buffer.count)
        buffer.removeAll()
        return takeFullChunk()
    }

    @inline(__always)
    private mutating func close(from start: Int, hash: IDHash, isHeld: Bool) {
        precondition(last.map { $0 < hash } ?? true, "entries come in the order of their hashes, each once")
        last = hash
        count.entries &+= 1
        if isHeld { count.held &+= 1 }
        if buffer.count &+ LedgerChunkFormat.headerBytes > maximumBytes, entries > 0 {
            endChunk(at: start)
            buffer.removeFirst(start)
        }
        if entries == 0 { first = hash }
        entries &+= 1
    }

    private mutating func endChunk(at end: Int) {
        guard entries > 0 else { return }
        let bytes = buffer.chunk(0..<end)
        count.bytes += bytes.count
        full.append(LedgerChunk(table: table, first: first, entries: entries, bytes: bytes))
        entries = 0
    }
}
