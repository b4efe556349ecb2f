// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// Reads all lines that a deduplicator has gathered, record by record, one table at a time.
///
/// Records come in the order of their ``IDHash``. A table may be opened any number of times, in any order; nothing is
/// consumed. Do not copy a reader that is in use: the copies would share nothing and read everything twice.
package struct DeduplicationReader: Sendable {
    /// The outcome of looking for the next record.
    package enum Step: Sendable {
        /// The record is in ``DeduplicationReader/group``.
        case group
        /// The table has no more records.
        case end
        /// More bytes are needed: call ``DeduplicationReader/refill()``, then look again.
        case starved
    }

    /// A run's element in the heap: the key of the run's head, so that a comparison reads nothing else.
    private struct Head {
        var high: UInt64
        var low: UInt64
        var sequence: UInt64
        var cursor: Int

        init(_ entry: DeduplicationEntry, cursor: Int) {
            high = entry.idHigh
            low = entry.idLow
            sequence = entry.sequence
            self.cursor = cursor
        }

        @inline(__always)
        func precedes(_ other: Self) -> Bool {
            if high != other.high { return high < other.high }
            return low != other.low ? low < other.low : sequence < other.sequence
        }
    }

    /// The most bytes of all windows together, and the most and the fewest of one window.
    private static let windowTotal = 1 << 20
    private static let windowMaximum = 128 << 10
    private static let windowMinimum = 16 << 10

    private let stored: [StoredRun]
    private let run: [DeduplicationEntry]
    private let arena: [UInt8]
    private let read: @Sendable (_ offset: UInt64, _ count: Int) async throws -> [UInt8]

    private var cursors: [RunCursor] = []
    /// The heap of runs: the run whose head comes first is at the top.
    private var heap: [Head] = []
    /// The runs whose head has to be read before anything can be compared.
    private var starved: [Int] = []
    /// True if the group has begun and may get more lines.
    private var isOpen = false

    /// The record that was found last.
    package private(set) var group: RecordGroup

    init(
        stored: [StoredRun], run: [DeduplicationEntry], arena: [UInt8], beginnings: RecordGroup.Beginnings,
        read: @escaping @Sendable (_ offset: UInt64, _ count: Int) async throws -> [UInt8]
    ) {
        self.stored = stored
        self.run = run
        self.arena = arena
        group = RecordGroup(beginnings)
        self.read = read
    }

    /// Returns the ids of a table's records if they are in memory and not more than `limit`; nil otherwise.
    package func ids(of rank: TableRank, limit: Int) -> [IDHash]? {
        guard stored.allSatisfy({ $0.range(of: rank).isEmpty }) else { return nil }
        let indices = firstIndex { $0.rank >= rank }..<firstIndex { $0.rank > rank }
        return indices.count > limit ? nil : run[indices].map { IDHash(low: $0.idLow, high: $0.idHigh) }
    }

    /// Goes before the first record of the table with this rank.
    ///
    /// - Throws: Errors of reading a stored run.
    package mutating func open(_ rank: TableRank) async throws {
        cursors.removeAll(keepingCapacity: true)
        heap.removeAll(keepingCapacity: true)
        isOpen = false
        for run in stored {
            let range = run.range(of: rank)
            if !range.isEmpty { cursors.append(RunCursor(range)) }
        }
        let indices = firstIndex { $0.rank >= rank }..<firstIndex { $0.rank > rank }
        if !indices.isEmpty { cursors.append(RunCursor(indices, of: run, arena: arena)) }
        starved = Array(cursors.indices)
        try await refill()
    }

    /// Goes to the next record, which then is in ``group``, and returns true; returns false if the table has no more.
    ///
    /// - Throws: Errors of reading a stored run.
    package mutating func next() async throws -> Bool {
        while true {
            switch advance() {
            case .group: return true
            case .end: return false
            case .starved: try await refill()
            }
        }
    }

    /// Looks for the next record without waiting, for loops over millions of records that wait only if they have to.
    package mutating func advance() -> Step {
        guard starved.isEmpty else { return .starved }
        while let top = heap.first {
            if !isOpen {
                isOpen = true
                group.begin(cursors[top.cursor].head)
            } else if top.high != group.hash.high || top.low != group.hash.low {
                isOpen = false
                return .group
            }
            switch cursors[top.cursor].deliver(to: &group) {
            case .ready: replaceTop(with: Head(cursors[top.cursor].head, cursor: top.cursor))
            case .exhausted: removeTop()
            case .starved:
                removeTop()
                starved.append(top.cursor)
                return .starved
            }
        }
        defer { isOpen = false }
        return isOpen ? .group : .end
    }

    /// Reads the bytes that ``advance()`` needs to go on.
    ///
    /// - Throws: Errors of reading a stored run; nothing is lost then, and `refill` may be called again.
    package mutating func refill() async throws {
        let window = max(Self.windowMinimum, min(Self.windowMaximum, Self.windowTotal / max(cursors.count, 1)))
        while let index = starved.last {
            var outcome = cursors[index].advance()
            while case .starved = outcome {
                try await cursors[index].fill(window, reading: read)
                outcome = cursors[index].advance()
            }
            starved.removeLast()
            if case .ready = outcome { insert(Head(cursors[index].head, cursor: index)) }
        }
    }

    /// Returns the index of the first entry in memory that satisfies a condition which all entries behind it satisfy
    /// too.
    private func firstIndex(where isBehind: (DeduplicationEntry) -> Bool) -> Int {
        var (low, high) = (0, run.count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(run[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private mutating func insert(_ head: Head) {
        heap.append(head)
        var child = heap.count - 1
        while child > 0, head.precedes(heap[(child - 1) / 2]) {
            heap[child] = heap[(child - 1) / 2]
            child = (child - 1) / 2
        }
        heap[child] = head
    }

    private mutating func removeTop() {
        let last = heap.removeLast()
        if !heap.isEmpty { replaceTop(with: last) }
    }

    private mutating func replaceTop(with head: Head) {
        heap.withUnsafeMutableBufferPointer { heap in
            var parent = 0
            while true {
                var child = 2 &* parent &+ 1
                guard child < heap.count else { break }
                if child &+ 1 < heap.count, heap[child &+ 1].precedes(heap[child]) { child &+= 1 }
                guard heap[child].precedes(head) else { break }
                heap[parent] = heap[child]
                parent = child
            }
            heap[parent] = head
        }
    }
}
