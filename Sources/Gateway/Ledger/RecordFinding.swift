// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Ledger
package import StateStore
package import SyncModel

/// Holds everything in the state about one record of one replica.
package struct RecordFinding: Sendable {
    /// An entry of the ledger, with its origin.
    package struct Sight: Sendable {
        /// The part of the ledger that has an entry.
        package enum Origin: Hashable, Sendable {
            /// The layer that this cursor added.
            case cursor(Cursor)
            /// The base: the entry came with this cursor or with an older one.
            case base(Cursor)
            /// The undo of this cursor: the record's state before it.
            case before(Cursor)
        }

        /// The part of the ledger that has the entry.
        package var origin: Origin
        /// The entry.
        package var entry: LedgerEntry
        /// True if the entry was written for the table's present links and sources; otherwise these mean nothing.
        package var hasPresentShape: Bool

        /// Creates a sight of an entry.
        package init(origin: Origin, entry: LedgerEntry, hasPresentShape: Bool = true) {
            self.origin = origin
            self.entry = entry
            self.hasPresentShape = hasPresentShape
        }
    }

    /// A record that the record refers to as its parent.
    package struct Parent: Sendable {
        /// The column that refers to the parent.
        package var column: String
        /// The ledger's digest of the reference.
        package var digest: UInt64
        /// The parent's table; nil if only delete lines use the column.
        package var table: String?
        /// The parent's id, if the replica's ledger has one with this digest.
        package var id: String?
        /// True if the device holds the parent, as far as the ledger shows.
        package var isHeld: Bool

        /// Creates a parent.
        package init(column: String, digest: UInt64, table: String? = nil, id: String? = nil, isHeld: Bool = false) {
            self.column = column
            self.digest = digest
            self.table = table
            self.id = id
            self.isHeld = isHeld
        }
    }

    /// The cursor for which the ledger was read: the newest one that has come back, or a newer one made from it.
    package var cursor: Cursor?
    /// The newest cursor that has come back.
    package var confirmed: Cursor?
    /// True if the replica has a ledger of the table.
    package var hasLedger: Bool
    /// True if the ledger has exactly what the device holds; otherwise the device may hold less.
    package var isExact: Bool
    /// The entries of the record, the valid one first.
    package var sights: [Sight] = []
    /// The record's parents, by the valid entry.
    package var parents: [Parent] = []
    /// The newest note of a push of the same principal about the record.
    package var note: PushNote?
    /// True if the note came after the cursor's stream began, so that its echo is still to come.
    package var isNoteNew = false
    /// The last refusal by the backend of a pushed operation on the record; nil if there was none lately.
    package var refusal: RefusalEntry?
    /// The mappings of the id: the backend's id of a client's, or the clients' ids of a backend's.
    package var mappings: [StoredIDMapping] = []
    /// True if the device knows the record by the backend's id, because it had got it before the mapping.
    package var isKept = false
    /// The record's lines in quarantine, of all principals, the newest first.
    package var quarantined: [QuarantineEntry] = []
    /// The number of lines of the table in quarantine whose id could not be read.
    package var unreadable = 0

    /// Creates a finding without entries.
    package init(cursor: Cursor?, confirmed: Cursor?, hasLedger: Bool, isExact: Bool) {
        self.cursor = cursor
        self.confirmed = confirmed
        self.hasLedger = hasLedger
        self.isExact = isExact
    }

    /// True if the valid entry came with an answer whose cursor has not come back yet.
    package var isPending: Bool {
        guard case .cursor(let cursor) = sights.first?.origin else { return false }
        return confirmed.map { cursor > $0 } ?? true
    }
}
