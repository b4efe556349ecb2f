// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What compaction has found: which spooled bytes are superseded, and how many records are left.
package struct Compaction: Hashable, Sendable {
    /// A superseded stretch of one segment.
    package struct Hole: Hashable, Sendable {
        /// Where it begins, counted from the start of the segment.
        package var position: UInt64
        /// How long it is.
        package var length: UInt32
        /// A hole.
        package init(position: UInt64, length: UInt32) {
            self.position = position
            self.length = length
        }
    }

    /// Rows and deletions that go out of one table.
    package struct Count: Hashable, Sendable {
        /// Records with content.
        package var upserts = 0
        /// Ids of deleted records.
        package var deletes = 0
        /// None.
        package init() {}
    }

    /// By segment, in rising order of position.
    package private(set) var holes: [SegmentKey: [Hole]] = [:]
    /// By the table's place in the projection.
    package private(set) var counts: [Int: Count] = [:]
    /// How many lines were superseded by later ones.
    package private(set) var superseded = 0

    /// The record that is being decided: its newest row, its newest deletion and the sources that are left.
    ///
    /// Never more than two entries, so that one record that comes a million times needs no more memory than one that
    /// comes twice.
    private var newestUpsert: CompactionEntry?
    private var newestDeletion: CompactionEntry?
    private var sources: Set<UInt8> = []

    /// Nothing found yet.
    package init() {}

    /// Takes the next entry in the order of ``CompactionEntry/precedes(_:_:)``.
    package mutating func add(_ entry: CompactionEntry) {
        if let known = newestUpsert ?? newestDeletion, !known.isSameRecord(as: entry) { closeRecord() }
        switch entry.operation {
        case .upsert:
            supersede(newestUpsert)
            newestUpsert = entry
            sources.insert(entry.source)
            return
        case .delete: sources.remove(entry.source)
        case .deleteAll: sources.removeAll()
        }
        supersede(newestDeletion)
        newestDeletion = entry
    }

    /// Ends the last record and brings the holes into the order of their segments.
    package mutating func finish() {
        closeRecord()
        for key in holes.keys { holes[key]?.sort { $0.position < $1.position } }
    }

    /// Decides one record by its final state, per source (finding 15): it is deleted when no source is left.
    private mutating func closeRecord() {
        let survivor = sources.isEmpty ? newestDeletion ?? newestUpsert : newestUpsert
        if let survivor { count(survivor) }
        supersede(sources.isEmpty ? newestUpsert : newestDeletion)
        newestUpsert = nil
        newestDeletion = nil
        sources.removeAll(keepingCapacity: true)
    }

    private mutating func supersede(_ entry: CompactionEntry?) {
        guard let entry else { return }
        superseded += 1
        holes[SegmentKey(entry), default: []].append(Hole(position: entry.position, length: entry.length))
    }

    private mutating func count(_ entry: CompactionEntry) {
        switch entry.operation {
        case .upsert: counts[Int(entry.table), default: Count()].upserts += 1
        case .delete, .deleteAll: counts[Int(entry.table), default: Count()].deletes += 1
        }
    }
}
