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
    /// The newest cursor that has come back.
    package var tip: Cursor?
    /// The time at which the operator last accepted held-back deletions.
    package var acceptedAt: Instant = 0
    /// The time at which the operator last requested that everything be compared, plus the lead of cursors.
    package var resyncAt: Instant = 0
    /// The cursors in their order.
    package var cursors: [StoredCursor] = []
    /// Its ledger; the deltas are with the cursors.
    package var ledger = ReplicaLedger()
    /// The ways in which it does not get on; their counts are rows.
    package var troubles: Set<DeviceTrouble.Kind> = []
    /// The number of recorded redeliveries, which are rows.
    package var owed = 0

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
    /// The base's former contents, each from before a cursor was compacted into it, in the order of the cursors.
    package var undos: [LedgerLayer] = []

    /// Creates the ledger of a replica that has none.
    package init() {}
}

/// A part of a ledger, whose contents never change.
package struct LedgerLayer: Hashable, Sendable {
    /// A number that no other layer has.
    package var id: LayerID
    /// The cursor that it was made with; of an undo, the cursor before which its contents were valid.
    package var cursor: Cursor
    /// The chunks in the order of table and first hash.
    package var chunks: [ChunkHead] = []
    /// The figures by table; in a delta, what it adds to the records held.
    package var counts: [String: LedgerCount] = [:]

    /// Creates a layer without chunks.
    package init(
        id: LayerID, cursor: Cursor, chunks: [ChunkHead] = [], counts: [String: LedgerCount] = [:]
    ) {
        self.id = id
        self.cursor = cursor
        self.chunks = chunks
        self.counts = counts
    }

    /// The size of all chunks.
    var bytes: Int { chunks.reduce(0) { $0 + $1.size } }
}

/// A chunk without its contents, or with them if they are few.
package struct ChunkHead: Hashable, Sendable {
    /// The client's table.
    package var table: String
    /// The hash of the first entry's id.
    package var first: IDHash
    /// The number of entries.
    package var entries: Int
    /// The number of the chunk; no other one has it.
    package var number: Int64
    /// The size of the contents in bytes.
    package var size: Int
    /// The contents, if they are few; others are under the number in the store.
    package var bytes: [UInt8]?

    /// Creates a chunk.
    package init(
        table: String, first: IDHash, entries: Int, number: Int64, size: Int, bytes: [UInt8]? = nil
    ) {
        self.table = table
        self.first = first
        self.entries = entries
        self.number = number
        self.size = size
        self.bytes = bytes
    }
}
