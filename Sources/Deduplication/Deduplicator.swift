// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Gathers the lines of a pull by record in bounded memory: entries are gathered into runs, runs are sorted and, where
/// there are several, stored and merged when they are read.
///
/// Reading consumes nothing: after a ``DeduplicationReader`` was used, more lines may be added and a new reader be
/// made, which reads all of them.
package struct Deduplicator: Sendable {
    /// How much of a stored run is handed over at once, in bytes, but for the last entry.
    private static let pieceSize = 256 * 1_024
    /// By how much a run may grow over its length before it is taken away: what one chunk of the stream brings.
    private static let slack = 4_096

    /// How many entries a run has; 48 bytes each, and as much again for ids and links.
    package let runLength: Int
    /// How many lines were added altogether.
    package private(set) var count = 0
    /// The runs that were taken away.
    private(set) var storedRuns: [StoredRun] = []

    /// The entries of the run that is being gathered, and their details.
    private var run: [DeduplicationEntry] = []
    private var arena: [UInt8] = []
    /// How much of the arena is in use; the rest is room that was zeroed, or used by an earlier run.
    private var arenaLength = 0
    private var isSorted = true
    /// How many entries of the run have been handed over; nil while it is being gathered.
    private var handedOver: Int?
    private var storedLength: UInt64 = 0

    /// A deduplicator that keeps at most `runLength` entries.
    package init(runLength: Int = 262_144) { self.runLength = runLength }

    /// Whether the run must be taken away before the next entry.
    package var isRunFull: Bool {
        run.count >= runLength || arenaLength >= runLength * MemoryLayout<DeduplicationEntry>.stride
    }

    /// How many bytes of memory the run takes that is being gathered.
    var byteCount: Int { run.capacity * MemoryLayout<DeduplicationEntry>.stride + arena.count }

    /// Gathers one line of a table that has no ledger: neither id nor links are kept.
    package mutating func add(_ entry: DeduplicationEntry) {
        precondition(handedOver == nil, "a run has to be handed over as a whole before it goes on")
        if run.count == run.capacity { makeRoom() }
        run.append(entry)
        isSorted = false
        count += 1
    }

    /// Gathers one line together with the id that clients know the record by, and the links of its row.
    ///
    /// The id is packed at once (``PackedID``): half the memory and half the bytes of stored runs, and the ledger takes
    /// it as it is.
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

    /// The next bytes to store, behind all that came before; nil while the run is not full.
    ///
    /// Ask until there are no more. Every run goes out sorted, each entry with its details, so that merging reads each
    /// from its beginning to its end.
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
            stored.note(run[end].table, at: storedLength + UInt64(length))
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

    /// Reads everything that was added so far, merged.
    ///
    /// - Parameter read: Reads exactly `count` bytes of those that ``nextRunPiece()`` handed over, counted from the
    ///   first of all. Never called where nothing was handed over.
    /// - Returns: A reader that stands before no table yet.
    package mutating func reader(
        reading read: @escaping @Sendable (_ offset: UInt64, _ count: Int) async throws -> [UInt8]
    ) -> DeduplicationReader {
        precondition(handedOver == nil, "a run has to be handed over as a whole before anything is read")
        sortRun()
        return DeduplicationReader(stored: storedRuns, run: run, arena: arena, read: read)
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

    /// Doubles the room, but never beyond what a run needs.
    private mutating func makeRoom() {
        let most = runLength + Self.slack
        run.reserveCapacity(run.count * 4 > runLength && run.count < most ? most : max(64, run.count * 2))
    }
}

/// Where a stored run lies.
struct StoredRun: Sendable {
    /// Where its tables begin, by rising rank.
    private var tables: [(table: UInt16, start: UInt64)] = []
    /// Where it ends.
    var end: UInt64

    init(start: UInt64) { end = start }

    /// Notes that an entry of a table begins at an offset.
    mutating func note(_ table: UInt16, at offset: UInt64) {
        if tables.last?.table != table { tables.append((table, offset)) }
    }

    /// Where the entries of a table lie; empty where there are none.
    func range(of table: UInt16) -> Range<UInt64> {
        guard let place = tables.firstIndex(where: { $0.table == table }) else { return end..<end }
        return tables[place].start..<(place + 1 < tables.count ? tables[place + 1].start : end)
    }
}
