// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection

/// Gathers the lines of a pull by record in bounded memory.
///
/// Entries are gathered into runs; runs are sorted and, if there are several, stored and merged when they are read.
/// Reading consumes nothing: after a ``DeduplicationReader`` was used, more lines may be added and a new reader made,
/// which reads all of them.
package struct Deduplicator: Sendable {
    /// The size in bytes at which a piece of a stored run is handed over; the last entry may exceed it.
    private static let pieceSize = 256 * 1_024
    /// The number of entries by which a run may exceed its length before it is taken away: those of one stream chunk.
    private static let slack = 4_096

    /// The number of entries in a run; 48 bytes each, and as much again for ids and links.
    package let runLength: Int
    /// The number of lines that were added altogether.
    package private(set) var count = 0
    /// The runs that were taken away.
    private(set) var storedRuns: [StoredRun] = []

    /// The entries of the run that is being gathered, and their details.
    private var run: [DeduplicationEntry] = []
    private var arena: [UInt8] = []
    /// The number of bytes of the arena in use; the rest was zeroed or used by an earlier run.
    private var arenaLength = 0
    private var isSorted = true
    /// The number of entries of the run that have been handed over; nil while the run is being gathered.
    private var handedOver: Int?
    private var storedLength: UInt64 = 0

    /// Creates a deduplicator that keeps at most about `runLength` entries in memory.
    package init(runLength: Int = 65_536) { self.runLength = runLength }

    /// True if the run must be taken away before the next entry.
    package var isRunFull: Bool {
        run.count >= runLength || arenaLength >= runLength * MemoryLayout<DeduplicationEntry>.stride
    }

    /// The memory of the run that is being gathered, in bytes.
    var byteCount: Int { run.capacity * MemoryLayout<DeduplicationEntry>.stride + arena.count }

    /// Adds one line of a table that has no ledger: neither id nor links are kept.
    package mutating func add(_ entry: DeduplicationEntry) {
        precondition(handedOver == nil, "a run has to be handed over as a whole before it goes on")
        if run.count == run.capacity { makeRoom() }
        run.append(entry)
        isSorted = false
        count += 1
    }

    /// Adds one line together with the id that clients know the record by, and the links of its row.
    ///
    /// The id is packed at once (``PackedID``): this halves the memory and the bytes of stored runs, and the ledger
    /// takes the packed id as it is.
    ///
    /// - Parameters:
    ///   - entry: The line.
    ///   - id: The id's text; 1…255 bytes.
    ///   - links: The digests of the table's links, in their order; empty for deletions.
    package mutating func add(_ entry: DeduplicationEntry, id: UnsafeRawBufferPointer, links: [UInt64]) {
        var entry = entry
        entry.detail = UInt32(arenaLength)
        let room = EntryCoding.room(links: links.count)
        if arena.count &- arenaLength < room { growArena(by: room) }
        let start = arenaLength
        arenaLength &+= arena.withUnsafeMutableBytes { EntryCoding.write(id, links, to: $0, at: start) }
        add(entry)
    }

    /// Returns the next bytes to store, behind all earlier ones; nil while the run is not full.
    ///
    /// Call it until it returns nil. Every run goes out sorted, each entry with its details, so that merging reads each
    /// run from its beginning to its end.
    package mutating func nextRunPiece() -> [UInt8]? {
        if handedOver == nil {
            guard isRunFull, !run.isEmpty else { return nil }
            sortRun()
            handedOver = 0
            storedRuns.append(StoredRun(start: storedLength))
        }
        guard let start = handedOver, start < run.count else {
            handedOver = nil
            run.removeAll(keepingCapacity: true)
            arenaLength = 0
            return nil
        }
        var (end, length) = (start, 0)
        var stored = storedRuns[storedRuns.count - 1]
        while end < run.count, length < Self.pieceSize {
            stored.note(run[end].rank, at: storedLength + UInt64(length))
            length += arena.withUnsafeBytes { EntryCoding.length(of: run[end], in: $0) }
            end += 1
        }
        let piece = EntryCoding.bytes(of: run[start..<end], arena: arena, length: length)
        handedOver = end
        storedLength += UInt64(length)
        stored.end = storedLength
        storedRuns[storedRuns.count - 1] = stored
        return piece
    }

    /// Returns a reader of all lines that were added so far, merged.
    ///
    /// - Parameters:
    ///   - beginnings: The beginnings of the stream's requests.
    ///   - read: A function that reads exactly `count` of the bytes that ``nextRunPiece()`` handed over, from an offset
    ///     in all of them together. It is never called if nothing was handed over.
    /// - Returns: A reader that stands before no table yet.
    package mutating func reader(
        since beginnings: RecordGroup.Beginnings = .init(),
        reading read: @escaping @Sendable (_ offset: UInt64, _ count: Int) async throws -> [UInt8]
    ) -> DeduplicationReader {
        precondition(handedOver == nil, "a run has to be handed over as a whole before anything is read")
        sortRun()
        return DeduplicationReader(stored: storedRuns, run: run, arena: arena, beginnings: beginnings, read: read)
    }

    /// Frees the room for entries and details that may never come, for a run that is kept for a while.
    package mutating func compact() {
        if run.capacity > run.count + run.count / 4 { run = run.withUnsafeBufferPointer { Array($0) } }
        if arena.count > arenaLength + arenaLength / 4 { arena = Array(arena[..<arenaLength]) }
    }

    @inline(never)
    private mutating func growArena(by room: Int) {
        arena.append(contentsOf: repeatElement(0, count: max(arena.count, room, 1 << 8)))
    }

    private mutating func sortRun() {
        guard !isSorted else { return }
        DeduplicationEntry.sort(&run)
        isSorted = true
    }

    /// Doubles the room, but never beyond the size that a run needs.
    private mutating func makeRoom() {
        let most = runLength + Self.slack
        run.reserveCapacity(run.count * 4 > runLength && run.count < most ? most : max(64, run.count * 2))
    }
}

/// The offsets of a stored run and of its tables.
struct StoredRun: Sendable {
    /// The offset at which each table begins, by rising rank.
    private var tables: [(rank: TableRank, start: UInt64)] = []
    /// The offset at which the run ends.
    var end: UInt64

    init(start: UInt64) { end = start }

    /// Notes that an entry of a table begins at an offset.
    mutating func note(_ rank: TableRank, at offset: UInt64) {
        if tables.last?.rank.rawValue != rank.rawValue { tables.append((rank, offset)) }
    }

    /// Returns the range of a table's entries; empty if there are none.
    func range(of rank: TableRank) -> Range<UInt64> {
        guard let index = tables.firstIndex(where: { $0.rank == rank }) else { return end..<end }
        return tables[index].start..<(index + 1 < tables.count ? tables[index + 1].start : end)
    }
}
