// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Finds the newest line of every record in bounded memory: entries are gathered into runs, runs are sorted and, where
/// there are several, merged.
package struct Compactor: Sendable {
    /// How many entries a run has; 40 bytes each.
    package let runLength: Int
    /// The entries of the run that is being gathered.
    package private(set) var run: [CompactionEntry] = []
    /// The length of each run that was taken away, in entries.
    package private(set) var storedRuns: [Int] = []

    /// A compactor that keeps at most `runLength` entries.
    package init(runLength: Int = 262_144) { self.runLength = runLength }

    /// Whether the run must be taken away before the next entry.
    package var isRunFull: Bool { run.count >= runLength }

    /// Gathers one line.
    package mutating func add(_ entry: CompactionEntry) { run.append(entry) }

    /// Sorts the gathered run and hands it over; the caller keeps it for ``finish(reading:)``.
    package mutating func takeRun() -> [CompactionEntry] {
        CompactionEntry.sort(&run)
        storedRuns.append(run.count)
        defer { run.removeAll(keepingCapacity: true) }
        return run
    }

    /// Merges everything that was gathered.
    ///
    /// - Parameter read: Reads `count` entries of the stored run `run`, beginning with entry `first`.
    /// - Returns: What is superseded and what is left.
    /// - Throws: What `read` throws.
    package mutating func finish(
        reading read: (_ run: Int, _ first: Int, _ count: Int) async throws -> [CompactionEntry]
    ) async throws -> Compaction {
        CompactionEntry.sort(&run)
        var result = Compaction()
        if storedRuns.isEmpty {
            for entry in run { result.add(entry) }
            result.finish()
            return result
        }
        var cursors = storedRuns.indices.map { RunCursor(run: $0, total: storedRuns[$0]) }
        for index in cursors.indices { try await cursors[index].fill(reading: read) }
        var rest = run[...]
        while true {
            var next: (index: Int?, entry: CompactionEntry)?
            if let entry = rest.first { next = (nil, entry) }
            for (index, cursor) in cursors.enumerated() {
                guard let entry = cursor.head else { continue }
                guard let best = next else {
                    next = (index, entry)
                    continue
                }
                if CompactionEntry.precedes(entry, best.entry) { next = (index, entry) }
            }
            guard let next else { break }
            result.add(next.entry)
            if let index = next.index {
                try await cursors[index].advance(reading: read)
            } else {
                rest.removeFirst()
            }
        }
        result.finish()
        return result
    }
}

/// Reads one stored run window by window.
private struct RunCursor {
    private static let window = 4_096

    let run: Int
    let total: Int
    private var next = 0
    private var entries: ArraySlice<CompactionEntry> = []

    init(run: Int, total: Int) {
        self.run = run
        self.total = total
    }

    var head: CompactionEntry? { entries.first }

    mutating func fill(reading read: (Int, Int, Int) async throws -> [CompactionEntry]) async throws {
        guard next < total else { return }
        let count = min(Self.window, total - next)
        entries = try await read(run, next, count)[...]
        next += count
    }

    mutating func advance(reading read: (Int, Int, Int) async throws -> [CompactionEntry]) async throws {
        entries.removeFirst()
        if entries.isEmpty { try await fill(reading: read) }
    }
}
