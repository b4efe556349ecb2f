// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Ledger
package import StateStore
package import SyncModel

/// All that the state says about one record of one replica.
package struct RecordFinding: Sendable {
    /// An entry of the ledger, with its place in time.
    package struct Sight: Sendable {
        /// Where an entry lies.
        package enum Place: Hashable, Sendable {
            /// In what this cursor added.
            case cursor(Cursor)
            /// In the base: it came with this cursor or with an older one; nil where nobody knows with which.
            case base(Cursor?)
            /// In what leads back behind this cursor: it is what was there before.
            case before(Cursor)
        }

        /// Where it lies.
        package var place: Place
        /// What it says.
        package var entry: LedgerEntry
        /// Whether it was written for the table's present links and sources; else they mean nothing.
        package var hasPresentShape: Bool

        /// An entry in its place.
        package init(place: Place, entry: LedgerEntry, hasPresentShape: Bool = true) {
            self.place = place
            self.entry = entry
            self.hasPresentShape = hasPresentShape
        }
    }

    /// A record that the record names as its parent.
    package struct Parent: Sendable {
        /// The column that names it.
        package var column: String
        /// The digest that the ledger has of the name.
        package var digest: UInt64
        /// The parent's table; nil where only delete lines go by the column.
        package var table: String?
        /// Its id, where the replica's ledger knows one with this digest.
        package var id: String?
        /// Whether the device holds it, as far as the ledger knows it.
        package var isHeld: Bool

        /// A parent.
        package init(column: String, digest: UInt64, table: String? = nil, id: String? = nil, isHeld: Bool = false) {
            self.column = column
            self.digest = digest
            self.table = table
            self.id = id
            self.isHeld = isHeld
        }
    }

    /// The cursor as which the ledger was read: the one that has come back last, or a newer one made from it.
    package var cursor: Cursor?
    /// The newest cursor that has come back.
    package var confirmed: Cursor?
    /// Whether the replica has a ledger of the table.
    package var hasLedger: Bool
    /// Whether the ledger tells exactly what the device holds; otherwise it may hold less.
    package var isExact: Bool
    /// The entries of the record, the one that counts first.
    package var sights: [Sight] = []
    /// What the record names as its parents, by the entry that counts.
    package var parents: [Parent] = []
    /// What a push of the same principal has said of the record last.
    package var note: PushNote?
    /// Whether the note came after the cursor's stream began, so that its echo is still to come.
    package var isNoteNew = false
    /// Why the backend has refused a pushed operation on it last; nil where it has not of late.
    package var refusal: RefusalEntry?
    /// What is known of the id: the backend's of a client's, or the clients' of a backend's.
    package var mappings: [StoredIDMapping] = []
    /// Whether the device calls the record by the backend's id, since it had got it before the mapping.
    package var isKept = false
    /// The record's lines in quarantine, whoever they were for, the newest first.
    package var quarantined: [QuarantineEntry] = []
    /// How many lines of the table are in quarantine whose id could not be read.
    package var unreadable = 0

    /// A finding of nothing.
    package init(cursor: Cursor?, confirmed: Cursor?, hasLedger: Bool, isExact: Bool) {
        self.cursor = cursor
        self.confirmed = confirmed
        self.hasLedger = hasLedger
        self.isExact = isExact
    }

    /// Whether what counts came with an answer that has not come back yet.
    package var isPending: Bool {
        guard case .cursor(let cursor) = sights.first?.place else { return false }
        return confirmed.map { cursor > $0 } ?? true
    }
}
