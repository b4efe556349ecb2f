// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The statements of a stream about one record, in a form that does not grow with the number of its lines.
///
/// The record's final state is decided for each feed (finding 15): an upsert line adds its feed, a delete line
/// removes its own feed, a line marked `all` removes every feed. The order of the lines is kept in two sets,
/// ``remaining`` and ``added``. A row counts against a deletion behind it in the same part of a request, unless both are
/// of one namespace: it was read while the stream ran, and the deletion may be older (issue 48).
package struct RecordGroup: Sendable {
    /// The record's id.
    package internal(set) var hash = IDHash.first
    /// The number of the record's lines; all except ``upsert`` and ``deletion`` are superseded in any case.
    package internal(set) var lines = 0
    /// The sequence of the record's first line in the stream.
    package internal(set) var firstSequence: UInt64 = 0
    /// The newest line that brings the row.
    package internal(set) var upsert: DeduplicationEntry?
    /// The newest line of each feed that brought the row before ``upsert`` did; mostly none.
    private var earlierUpserts: [(feeds: FeedSet, sequence: UInt64)] = []
    /// The newest line that removes a feed, or all of them.
    package internal(set) var deletion: DeduplicationEntry?
    /// The sequence of the first line that removes a feed; 0 if there is none.
    package internal(set) var firstDeletion: UInt64 = 0
    /// The feeds that are left of those that the record had before the stream; at first all.
    package internal(set) var remaining = FeedSet.all
    /// The feeds that the record has got from the stream and not lost again.
    package internal(set) var added: FeedSet = []
    /// True if a row and a deletion behind it contradict each other: only a comparison can tell which is newer.
    package internal(set) var isContested = false
    private let beginnings: Beginnings
    /// The id as clients know it, packed (``PackedID``); empty if the table has no ledger.
    ///
    /// The array is reused for the next record: a caller that keeps it causes a new allocation.
    package internal(set) var packedID: [UInt8] = []
    /// The digests of the table's links, of the newest line that brings the row; empty without such a line.
    package internal(set) var links: [UInt64] = []

    /// Returns the feeds that the record has after the stream, if it had `initial` before.
    package func feeds(after initial: FeedSet) -> FeedSet { initial.intersection(remaining).union(added) }

    /// Returns the sequence of the newest line by which a feed brought the row; 0 if the feed did not.
    package func lastUpsert(by feed: FeedSet) -> UInt64 {
        if let upsert, upsert.feeds == feed { return upsert.sequence }
        return earlierUpserts.last { $0.feeds == feed }?.sequence ?? 0
    }

    /// True if this is the only line of its record and brings the row, which holds for almost all lines of a first
    /// sync.
    @inlinable package var isSingleUpsert: Bool { lines == 1 && upsert != nil }

    /// True if ``packedID`` and ``links`` are still those of another record.
    private var isStale = true

    /// The number of lines that had come before each stream request, and before each part of one that broke.
    package struct Beginnings: Hashable, Sendable {
        var requests: [UInt64] = []
        var parts: [UInt64] = []
    }

    /// Creates a group of lines of one stream.
    package init(_ beginnings: Beginnings = Beginnings()) { self.beginnings = beginnings }

    mutating func begin(_ entry: DeduplicationEntry) {
        hash = entry.hash
        lines = 0
        firstSequence = entry.sequence
        upsert = nil
        if !earlierUpserts.isEmpty { earlierUpserts.removeAll(keepingCapacity: true) }
        deletion = nil
        firstDeletion = 0
        remaining = .all
        added = []
        isContested = false
        isStale = true
    }

    /// Takes the record's next line.
    mutating func take(_ entry: DeduplicationEntry, _ details: UnsafeRawBufferPointer) {
        lines &+= 1
        switch entry.operation {
        case .upsert:
            if let upsert, upsert.feeds != entry.feeds { keepSequence(of: upsert) }
            upsert = entry
            added.formUnion(entry.feeds)
            EntryCoding.read(details, packedID: &packedID, links: &links)
            isStale = false
            return
        case .delete: remove(entry.feeds, by: entry)
        case .deleteAll: remove(.all, by: entry)
        }
        deletion = entry
        if firstDeletion == 0 { firstDeletion = entry.sequence }
        // The id is the same in every line, and the links of the row stay.
        if isStale { EntryCoding.read(details, packedID: &packedID, links: &links) }
        isStale = false
    }

    /// Removes feeds, but for those whose rows count against the deletion.
    private mutating func remove(_ feeds: FeedSet, by entry: DeduplicationEntry) {
        remaining.subtract(feeds)
        let rows = added.intersection(feeds)
        guard !rows.isEmpty, !entry.isOrdered else { return added.subtract(feeds) }
        let kept = rows.intersection(feedsBrought(since: beginnings.parts, entry))
        added.subtract(feeds.subtracting(kept))
        isContested = isContested || !rows.isDisjoint(with: feedsBrought(since: beginnings.requests, entry))
    }

    /// Returns the feeds whose newest row came in the same request, or part, as a deletion.
    private func feedsBrought(since beginnings: [UInt64], _ deletion: DeduplicationEntry) -> FeedSet {
        guard let upsert, let began = beginnings.last(where: { $0 < deletion.sequence }) else { return [] }
        return earlierUpserts.reduce(into: upsert.sequence > began ? upsert.feeds : []) { feeds, earlier in
            if earlier.sequence > began { feeds.formUnion(earlier.feeds) }
        }
    }

    /// Keeps the sequence of an upsert, one for each feed, however often the feeds take turns.
    private mutating func keepSequence(of upsert: DeduplicationEntry) {
        earlierUpserts.removeAll { $0.feeds == upsert.feeds }
        earlierUpserts.append((upsert.feeds, upsert.sequence))
    }
}
