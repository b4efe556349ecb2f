// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import LineProjection
package import SyncModel

/// What a stream says beside its records: what could not be read, and what is deleted by the value of a column.
package struct StreamSigns: Hashable, Sendable {
    /// A column of a table, as delete lines of one source name it.
    package struct Link: Hashable, Sendable {
        /// The table's place in the schema.
        package var table: Int
        /// The place among the table's links.
        package var link: Int
        /// The feed that the lines belong to.
        package var source: Int
        /// A column.
        package init(table: Int, link: Int, source: Int) {
            self.table = table
            self.link = link
            self.source = source
        }
    }

    /// How many ids of quarantined lines are remembered; with more, no record of any table counts as missing.
    package static let maximumIDs = 65_536
    /// How many values delete lines may name in one pull; what the others mean is left to a comparison.
    package static let maximumDeletions = 1 << 18

    /// The ids of quarantined lines, by the table's place, with the place in the stream of the newest one: these
    /// records are not gone, unless a later line says so.
    package private(set) var quarantined: [Int: [IDHash: UInt64]] = [:]
    /// Tables of which a line came whose id nobody can read.
    package private(set) var blindTables: Set<Int> = []
    /// Whether a line came of which not even the table is known.
    package private(set) var isBlind = false
    /// Deletions by the digest of a value: the place in the stream of the newest line; what its source brought later
    /// stays.
    package private(set) var deletions: [Link: [UInt64: UInt64]] = [:]
    /// Tables of which more values were named.
    package private(set) var overflowed: Set<Int> = []
    /// Where each stream request began, and each part of one that broke: how many lines had come before it.
    package private(set) var requests: [UInt64] = []
    private var parts: [UInt64] = []
    private var ids = 0
    private var digests = 0

    /// How many bytes of memory they take, about.
    var byteCount: Int { (ids + digests) * 64 + (requests.count + parts.count) * 8 }

    /// No signs.
    package init() {}

    /// Whether the table has missing records that cannot be told from unreadable ones.
    package func isBlind(_ table: Int) -> Bool { isBlind || blindTables.contains(table) }

    /// Notes that another stream request begins, or that one is taken up again where it broke.
    ///
    /// - Parameters:
    ///   - lines: How many lines have come so far; sequences of later ones are greater.
    ///   - isResumed: Whether it is the same request still.
    package mutating func beginRequest(after lines: UInt64, isResumed: Bool = false) {
        parts.append(lines)
        if !isResumed { requests.append(lines) }
    }

    /// How many lines had come when the request began that brought a line.
    package func beginning(ofRequestOf sequence: UInt64) -> UInt64 { requests.last { $0 < sequence } ?? 0 }

    /// The same of the part of a request.
    package func beginning(ofPartOf sequence: UInt64) -> UInt64 { parts.last { $0 < sequence } ?? 0 }

    /// Notes a quarantined line.
    ///
    /// - Parameters:
    ///   - scope: What it may be about.
    ///   - sequence: Its place in the stream.
    package mutating func quarantine(_ scope: QuarantineScope, at sequence: UInt64) {
        switch scope {
        case .record(let table, let id):
            guard ids < Self.maximumIDs else {
                isBlind = true
                return
            }
            if quarantined[table, default: [:]].updateValue(sequence, forKey: id) == nil { ids += 1 }
        case .table(let table): blindTables.insert(table)
        case .everything: isBlind = true
        case .nothing: break
        }
    }

    /// Notes a line that deletes every record of a source whose link has a digest.
    package mutating func delete(_ link: Link, digest: UInt64, sequence: UInt64) {
        if deletions[link]?[digest] == nil {
            guard digests < Self.maximumDeletions else {
                overflowed.insert(link.table)
                return
            }
            digests += 1
        }
        deletions[link, default: [:]][digest] = sequence
    }
}
