// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The state of one client database.
package struct ReplicaHead: Hashable, Sendable {
    /// The replica.
    package var id: ReplicaID
    /// True if it has ever come back.
    package var isConfirmed: Bool
    /// The time at which it began.
    package var firstSeen: Instant
    /// The time at which it last pulled or pushed, to about a minute.
    package var lastSeen: Instant
    /// The result of its last pull or push.
    package var lastResult: String
    /// The schema version that the client has last stated.
    package var schemaVersion: Int?
    /// The schema version that its pushes have stated or implied.
    package var pushedVersion: Int?
    /// The vector that the backend holds for the session that it last synced under; nil if that is unknown.
    package var position: StoredPosition?
    /// The newest cursor that has come back.
    package var tip: Cursor?
    /// The time at which the operator last accepted held-back deletions.
    package var acceptedAt: Instant = 0
    /// The time at which the operator last requested that everything be compared, plus the lead of cursors.
    package var resyncAt: Instant = 0
    /// The cursors in their order, but for the ``older`` ones.
    package var cursors: [StoredCursor] = []
    /// The pages that have some of these cursors.
    package var pages: [CursorPage] = []
    /// The cursors in the head that were not read yet, because they build on those in pages.
    var unreadCursors: [UInt8]?
    /// The cursors that are in other pages.
    package var older = OlderCursors()
    /// Its ledger; the deltas are with the cursors.
    package var ledger = ReplicaLedger()
    /// The ways in which it does not get on; their counts are rows.
    package var troubles: Set<DeviceTrouble.Kind> = []
    /// The number of recorded redeliveries, which are rows.
    package var owed = 0

    /// The bytes that the value takes in memory, about.
    var weight: Int {
        let chunks = layers.flatMap(\.chunks).reduce(0) { $0 + 150 + ($1.bytes?.count ?? 0) }
        return cursors.reduce(2_000 + chunks) { $0 + 500 + 100 * $1.vector.tokens.count }
    }

    /// The newest cursor that was handed out.
    package var newest: Cursor? { cursors.last?.cursor }

    /// The sessions with which it has synced.
    package var sessions: Set<Session> { Set(cursors.map(\.session)) }

    func index(of cursor: Cursor) -> Int? {
        var (low, high) = (0, cursors.count)
        while low < high {
            let middle = (low + high) / 2
            if cursors[middle].cursor < cursor { low = middle + 1 } else { high = middle }
        }
        return low < cursors.count && cursors[low].cursor == cursor ? low : nil
    }

    /// Returns a cursor; nil if it is not one of this replica.
    package subscript(cursor: Cursor) -> StoredCursor? { index(of: cursor).map { cursors[$0] } }
}

/// A cursor that was handed out, and its standing in its replica's ledger.
package struct StoredCursor: Hashable, Sendable {
    /// The cursor.
    package var cursor: Cursor
    /// The cursor that was presented when it was made; nil for a first sync.
    package var parent: Cursor?
    /// The vector from which the backend's stream goes on.
    package var vector: CheckpointVector
    /// The schema version of the device's data; nil if it was never stated.
    package var schemaVersion: Int?
    /// The session that it was made under.
    package var session: Session
    /// The session's generation, the resets of all sessions included.
    package var generation: Int
    /// True once it has come back.
    package var isConfirmed: Bool
    /// A digest of the table mappings under which it was made.
    package var mapping: String
    /// The number of the principal's notes when its stream began.
    package var noted: Int64
    /// The last full comparison of each request type.
    package var comparisons: [String: FullComparison]
    /// The ids under which the device knows records that have an id from the backend.
    package var ids: VisibleIDs
    /// The layer that it adds to the cursor below; nil for none.
    package var delta: LedgerLayer?
    /// The entries that the base had before its delta was compacted into it; nil for none, or if it is not in the base.
    package var undo: LedgerLayer?
    /// The cursor below; the cursor itself if it is in the base; nil if there is no ledger, or it is not known.
    package var below: Cursor?
    /// True if it is known exactly what the device holds with this cursor.
    package var isExact = false

    init(_ row: CursorRow) {
        cursor = row.cursor
        parent = row.parent
        vector = row.vector
        schemaVersion = row.schemaVersion
        session = row.session
        generation = row.generation
        isConfirmed = row.isConfirmed
        mapping = row.mappingDigest
        noted = row.noted
        comparisons = row.comparisons
        ids = row.ids
    }

    /// Returns the cursor as its principal's pulls see it.
    package func row(of principal: Principal, _ replica: ReplicaID) -> CursorRow {
        CursorRow(
            principal: principal, cursor: cursor, replica: replica, parent: parent, vector: vector,
            schemaVersion: schemaVersion, session: session, generation: generation, isConfirmed: isConfirmed,
            mappingDigest: mapping, noted: noted, comparisons: comparisons, ids: ids)
    }
}

/// The ledger's part of a replica.
package struct ReplicaLedger: Hashable, Sendable {
    /// The state of the replica at the newest cursor that was compacted.
    package var base: LedgerLayer?
    /// The newest cursor that is in the base.
    package var compacted: Cursor?
    /// The oldest cursor to which the undos lead back; nil while all undos are there.
    package var horizon: Cursor?
    /// Rises with every change of the base.
    package var version = 0

    /// Creates the ledger of a replica that has none.
    package init() {}
}
