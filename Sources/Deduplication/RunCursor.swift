// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection

/// Reads one table's entries out of one run: a stored run window by window, or the run in memory.
struct RunCursor: Sendable {
    /// The outcome of moving on.
    enum Outcome {
        /// The next entry, which is in ``head``.
        case ready
        /// The end of the table's entries in this run.
        case exhausted
        /// A window that has to be filled first.
        case starved
    }

    /// The entry that comes next.
    private(set) var head: DeduplicationEntry
    /// The range of the head's details in `bytes`.
    private var details = 0..<0

    /// The run in memory; empty for a stored run.
    private let entries: [DeduplicationEntry]
    private var coming: Range<Int>
    /// The arena of the run in memory, or the window of a stored one.
    private var bytes: [UInt8]
    /// The index in `bytes` up to which the window has been read; `offset` is where the next window begins.
    private var position = 0
    private var offset: UInt64
    private let end: UInt64
    private let isStored: Bool

    private static let none = DeduplicationEntry(
        idHigh: 0, idLow: 0, sequence: 0, line: 0, rank: TableRank(rawValue: 0), feed: 0, operation: .upsert)

    /// Creates a cursor over entries that are in memory.
    init(_ indices: Range<Int>, of run: [DeduplicationEntry], arena: [UInt8]) {
        head = Self.none
        entries = run
        coming = indices
        bytes = arena
        offset = 0
        end = 0
        isStored = false
    }

    /// Creates a cursor over entries that were stored.
    init(_ range: Range<UInt64>) {
        head = Self.none
        entries = []
        coming = 0..<0
        bytes = []
        offset = range.lowerBound
        end = range.upperBound
        isStored = true
    }

    /// Goes on to the next entry.
    @inline(__always)
    mutating func advance() -> Outcome { isStored ? advanceStored() : advanceInMemory() }

    private mutating func advanceInMemory() -> Outcome {
        guard !coming.isEmpty else { return .exhausted }
        let entry = entries[coming.lowerBound]
        coming = coming.lowerBound &+ 1..<coming.upperBound
        head = entry
        details = 0..<0
        if entry.detail != DeduplicationEntry.noDetail {
            let start = Int(entry.detail)
            let length = bytes.withUnsafeBytes { EntryCoding.detailLength(at: start, in: $0) }
            details = start..<start &+ length
        }
        return .ready
    }

    private mutating func advanceStored() -> Outcome {
        let left = bytes.count &- position
        guard left >= EntryCoding.entrySize else { return left == 0 && offset >= end ? .exhausted : .starved }
        let entry = bytes.withUnsafeBytes { bytes in
            // Not loaded as a whole, since the padding behind an entry was not stored.
            withUnsafeTemporaryAllocation(of: DeduplicationEntry.self, capacity: 1) { entry in
                UnsafeMutableRawBufferPointer(entry).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[position..<position &+ EntryCoding.entrySize]))
                return entry[0]
            }
        }
        let next = EntryCoding.entrySize &+ Int(entry.detail)
        guard left >= next else { return .starved }
        head = entry
        details = position &+ EntryCoding.entrySize..<position &+ next
        position &+= next
        return .ready
    }

    /// Adds the head to its record and goes on; mutating as a whole, so that nothing is copied.
    mutating func deliver(to group: inout RecordGroup) -> Outcome {
        bytes.withUnsafeBytes { group.take(head, UnsafeRawBufferPointer(rebasing: $0[details])) }
        return advance()
    }

    /// Reads the next window behind the rest of this one.
    ///
    /// - Throws: Errors of `read`, and ``DamagedRun`` if `read` returns another number of bytes or the run ends within
    ///   an entry.
    mutating func fill(_ window: Int, reading read: (UInt64, Int) async throws -> [UInt8]) async throws {
        let count = Int(min(UInt64(window), end - offset))
        let next = count > 0 ? try await read(offset, count) : []
        guard next.count == count, count > 0 else { throw DamagedRun() }
        bytes = position == bytes.count ? next : Array(bytes[position...]) + next
        position = 0
        offset += UInt64(count)
    }
}

/// A stored run that does not end correctly: the file that holds it was damaged.
package struct DamagedRun: Error, Hashable, Sendable {
    /// The stable code for answers, log and metrics.
    package var code: String { "spool.file" }
}
