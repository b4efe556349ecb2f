// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The state of a record in a ledger.
package enum LedgerState: UInt8, CaseIterable, Sendable {
    /// The device holds it.
    case held = 0
    /// The device held it and was told to delete it.
    case tombstone = 1
    /// A push has named the record; its outcome is unknown.
    case seen = 2
    /// It was not there; only in an undo.
    case unknown = 3
}

/// One record of a ledger as a value, for small numbers of them; millions go by reader and writer without it.
package struct LedgerEntry: Hashable, Sendable {
    /// The id as the client has it.
    package var id: String
    /// The keyed hash of the id.
    package var hash: IDHash
    /// The state of the record.
    package var state: LedgerState
    /// The hash of what the device was sent; only of a held record, and nil where nothing is to be trusted.
    package var content: UInt64?
    /// Digests of the link columns, in the order of the table's links; 0 where there is none or it is unknown.
    package var links: [UInt64]
    /// The feeds that the record came by, the first one in the lowest bit; 0 where they are unknown.
    package var sources: UInt64
    /// The time at which a tombstone was made, in milliseconds since 1970; else 0.
    package var goneAt: Int64

    /// Creates an entry.
    package init(
        id: String, hash: IDHash, state: LedgerState = .held, content: UInt64? = nil, links: [UInt64] = [],
        sources: UInt64 = 0, goneAt: Int64 = 0
    ) {
        self.id = id
        self.hash = hash
        self.state = state
        self.content = content
        self.links = links
        self.sources = sources
        self.goneAt = goneAt
    }
}
