// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// The facts that a stream tells beside its records: unreadable lines, and deletions by the value of a column.
package struct StreamSigns: Hashable, Sendable {
    /// A column of a table, as delete lines of one feed name it.
    package struct Link: Hashable, Sendable {
        /// The table's index in the schema.
        package var table: Int
        /// The column's index among the table's links.
        package var link: Int
        /// The index of the lines' feed in the table.
        package var feed: Int
        /// Creates a link.
        package init(table: Int, link: Int, feed: Int) {
            self.table = table
            self.link = link
            self.feed = feed
        }
    }

    /// The most ids of quarantined lines that are remembered; beyond it, no record of any table counts as missing.
    package static let maximumIDs = 65_536
    /// The most values that delete lines may name in one pull; further ones are left to a full comparison.
    package static let maximumDeletions = 1 << 18

    /// The newest line that deletes every record of a feed whose link has a digest.
    package struct LinkDeletion: Hashable, Sendable {
        /// The sequence of the line.
        package var sequence: UInt64
        /// The sequence of the last line before the rows that count against the deletion: those behind it and, as with
        /// deletions of one record (``RecordGroup``), those before it in the same part of a request.
        package var keptFrom: UInt64
        /// The sequence of the last line before the rows that contradict the deletion, which is behind them.
        package var contestedFrom: UInt64

        /// Creates a deletion in the order of its lines: only rows behind it count against it.
        package init(ordered sequence: UInt64) {
            (self.sequence, keptFrom, contestedFrom) = (sequence, sequence, sequence)
        }

        /// Returns true if a row counts against the deletion; 0 is no row.
        package func spares(_ row: UInt64) -> Bool { row > keptFrom }

        /// Returns true if only a comparison can tell whether a row is newer than the deletion.
        package func contradicts(_ row: UInt64) -> Bool { row > contestedFrom && row < sequence }
    }

    /// The quarantined lines of one record.
    package struct Unreadable: Hashable, Sendable {
        /// The sequence of the newest line.
        package var sequence: UInt64
        /// The feeds of the lines: by these the record is there.
        package var feeds: FeedSet
    }

    /// The records of quarantined lines, by the table's index.
    ///
    /// These records are not gone, unless a later line deletes them.
    package private(set) var quarantined: [Int: [IDHash: Unreadable]] = [:]
    /// The tables of which a line with an unreadable id came.
    package private(set) var blindTables: Set<Int> = []
    /// True if a line came whose table is unknown, or if too many ids would have to be remembered.
    package private(set) var isBlind = false
    /// The deletions by the digest of a value.
    package private(set) var deletions: [Link: [UInt64: LinkDeletion]] = [:]
    /// The tables of which more values were named than are remembered.
    package private(set) var overflowed: Set<Int> = []
    /// The number of lines that had come before each stream request and each part of one.
    var beginnings = RecordGroup.Beginnings()
    private var ids = 0
    private var digests = 0

    /// The memory of the signs, in bytes, approximately.
    var byteCount: Int { (ids + digests) * 64 + (beginnings.requests.count + beginnings.parts.count) * 8 }

    /// Creates an empty collection of signs.
    package init() {}

    /// Returns whether missing records of the table cannot be told from unreadable ones.
    package func isBlind(_ table: Int) -> Bool { isBlind || blindTables.contains(table) }

    /// Notes that another stream request begins, or that one is resumed after it broke.
    ///
    /// - Parameters:
    ///   - lines: The number of lines that have come so far; sequences of later ones are greater.
    ///   - isResumed: True if it is still the same request.
    package mutating func beginRequest(after lines: UInt64, isResumed: Bool = false) {
        beginnings.parts.append(lines)
        if !isResumed { beginnings.requests.append(lines) }
    }

    /// Returns how many lines had come when the request began that brought a line.
    package func beginning(ofRequestOf sequence: UInt64) -> UInt64 { beginnings.requests.last { $0 < sequence } ?? 0 }

    /// Returns how many lines had come when the part of a request began that brought a line.
    package func beginning(ofPartOf sequence: UInt64) -> UInt64 { beginnings.parts.last { $0 < sequence } ?? 0 }

    /// Notes a quarantined line.
    ///
    /// - Parameters:
    ///   - scope: The records that the line may have been about.
    ///   - sequence: The line's number in the stream.
    package mutating func quarantine(_ scope: QuarantineScope, at sequence: UInt64) {
        switch scope {
        case .record(let table, let feed, let id):
            guard ids < Self.maximumIDs else {
                isBlind = true
                return
            }
            let feeds = quarantined[table]?[id]?.feeds
            if feeds == nil { ids += 1 }
            quarantined[table, default: [:]][id] = Unreadable(
                sequence: sequence, feeds: (feeds ?? []).union(FeedSet(feed: feed)))
        case .table(let table): blindTables.insert(table)
        case .everything: isBlind = true
        case .nothing: break
        }
    }

    /// Returns a record's unreadable lines if its newest line is one, else nil: the record is there, even if earlier
    /// lines have deleted it (finding 13).
    ///
    /// `group` has the record's other lines; nil if there are none, or if they may come from another feed.
    package func unreadable(_ id: IDHash, in table: Int, after group: RecordGroup?) -> Unreadable? {
        guard let lines = quarantined[table]?[id], let group else { return quarantined[table]?[id] }
        return lines.sequence > max(group.deletion?.sequence ?? 0, group.upsert?.sequence ?? 0) ? lines : nil
    }

    /// Notes a line that deletes every record of a feed whose link has a digest; `isOrdered` if rows of the table and the
    /// line are of one namespace, so that their order counts.
    package mutating func delete(_ link: Link, digest: UInt64, sequence: UInt64, isOrdered: Bool) {
        if deletions[link]?[digest] == nil {
            guard digests < Self.maximumDeletions else {
                overflowed.insert(link.table)
                return
            }
            digests += 1
        }
        var deletion = LinkDeletion(ordered: sequence)
        if !isOrdered {
            deletion.keptFrom = beginning(ofPartOf: sequence)
            deletion.contestedFrom = beginning(ofRequestOf: sequence)
        }
        deletions[link, default: [:]][digest] = deletion
    }
}
