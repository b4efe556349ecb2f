// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Everything that a stream says about one record, in a form that does not grow with the number of its lines.
///
/// The record's final state is decided per source (finding 15): an upsert line adds its source, a delete line takes its
/// own away, one marked `all` takes every source away. In what order the lines came is kept in two masks.
package struct RecordGroup: Sendable {
    /// The record's id.
    package internal(set) var hash = IDHash.first
    /// How many lines the record has; all but ``upsert`` and ``deletion`` are superseded whatever is decided.
    package internal(set) var lines = 0
    /// The place in the stream of the first of them.
    package internal(set) var firstSequence: UInt64 = 0
    /// The newest line that brings the row.
    package internal(set) var upsert: DeduplicationEntry?
    /// Of the sources that brought the row before ``upsert`` did, the newest line each; mostly none.
    private var earlierUpserts: [(source: UInt64, sequence: UInt64)] = []
    /// The newest line that takes a source away, or all of them.
    package internal(set) var deletion: DeduplicationEntry?
    /// The place in the stream of the first such line; 0 where there is none.
    package internal(set) var firstDeletion: UInt64 = 0
    /// Which of the sources that the record had before the stream are left.
    package internal(set) var keep = UInt64.max
    /// Which sources it has got from the stream and not lost again.
    package internal(set) var add: UInt64 = 0
    /// The id as clients know it, packed (``PackedID``); empty where the table has no ledger.
    ///
    /// Used again for the next record: whoever keeps the array makes the next one be allocated.
    package internal(set) var packedID: [UInt8] = []
    /// The digests of the table's links, of the newest line that brings the row; empty without one.
    package internal(set) var links: [UInt64] = []

    /// The sources that the record has after the stream, if it had `initial` before.
    package func sources(after initial: UInt64) -> UInt64 { initial & keep | add }

    /// The place in the stream of the newest line by which a source brought the row; 0 where it did not.
    package func lastUpsert(by source: UInt64) -> UInt64 {
        if let upsert, upsert.sourceBit == source { return upsert.sequence }
        return earlierUpserts.last { $0.source == source }?.sequence ?? 0
    }

    /// Whether this is the only line of its record and brings the row, which almost all of a first sync are.
    package var isSingleUpsert: Bool { lines == 1 && upsert != nil }

    /// Whether ``packedID`` and ``links`` are still those of another record.
    private var isStale = true

    mutating func begin(_ entry: DeduplicationEntry) {
        hash = entry.hash
        lines = 0
        firstSequence = entry.sequence
        upsert = nil
        if !earlierUpserts.isEmpty { earlierUpserts.removeAll(keepingCapacity: true) }
        deletion = nil
        firstDeletion = 0
        keep = .max
        add = 0
        isStale = true
    }

    /// Takes the record's next line.
    mutating func take(_ entry: DeduplicationEntry, _ details: UnsafeRawBufferPointer) {
        lines &+= 1
        switch entry.operation {
        case .upsert:
            if let upsert, upsert.sourceBit != entry.sourceBit { keepSequence(of: upsert) }
            upsert = entry
            add |= entry.sourceBit
            EntryCoding.read(details, packedID: &packedID, links: &links)
            isStale = false
            return
        case .delete:
            keep &= ~entry.sourceBit
            add &= ~entry.sourceBit
        case .deleteAll:
            keep = 0
            add = 0
        }
        deletion = entry
        if firstDeletion == 0 { firstDeletion = entry.sequence }
        // The id is the same in every line, and the links of the row stay.
        if isStale { EntryCoding.read(details, packedID: &packedID, links: &links) }
        isStale = false
    }

    /// No more than one for each source, however often they take turns.
    private mutating func keepSequence(of upsert: DeduplicationEntry) {
        earlierUpserts.removeAll { $0.source == upsert.sourceBit }
        earlierUpserts.append((upsert.sourceBit, upsert.sequence))
    }
}
