// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The state of a record in a ledger.
package enum LedgerState: UInt8, CaseIterable, Sendable {
    /// The device holds the record.
    case held = 0
    /// The device held the record and was told to delete it.
    case tombstone = 1
    /// A push has named the record; it is unknown whether it arrived.
    case seen = 2
    /// The record was not there; only in an undo layer.
    case unknown = 3
}

/// One record of a ledger as a value, for small numbers; millions are read and written without it.
package struct LedgerEntry: Hashable, Sendable {
    /// The id that the client uses.
    package var id: String
    /// The keyed hash of the id.
    package var hash: IDHash
    /// The state of the record.
    package var state: LedgerState
    /// The hash of the content that the device was sent; only of a held record, and nil if none can be trusted.
    package var content: UInt64?
    /// True if a held record went out with a default in place of a value that could not be read.
    package var isDefaulted: Bool
    /// The digests of the link columns, in the order of the table's links; 0 if there is none or it is unknown.
    package var links: [UInt64]
    /// The feeds that the record came by, the first one in the lowest bit; 0 if unknown.
    package var feeds: FeedSet
    /// The time at which a tombstone was made; else 0.
    package var goneAt: Instant

    /// Creates an entry.
    package init(
        id: String, hash: IDHash, state: LedgerState = .held, content: UInt64? = nil, isDefaulted: Bool = false,
        links: [UInt64] = [], feeds: FeedSet = [], goneAt: Instant = 0
    ) {
        self.id = id
        self.hash = hash
        self.state = state
        self.content = content
        self.isDefaulted = isDefaulted
        self.links = links
        self.feeds = feeds
        self.goneAt = goneAt
    }
}
