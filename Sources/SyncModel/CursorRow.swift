// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The state behind a cursor: a device that presents it has everything up to its vector.
package struct CursorRow: Hashable, Sendable {
    /// The principal that the cursor was made for; it is worthless to any other.
    package var principal: Principal
    /// The key.
    package var cursor: Cursor
    /// The client database that got the cursor.
    package var replica: ReplicaID
    /// The cursor that was presented when this one was made; nil for the first one of a replica.
    package var parent: Cursor?
    /// The checkpoints from which the backend's stream goes on.
    package var vector: CheckpointVector
    /// The client's schema version (LS); nil if the client has never sent it.
    package var schemaVersion: Int?
    /// The backend session under which the cursor was made.
    package var session: Session
    /// The number of resets that this session had seen.
    package var generation: Int
    /// True if a client has come back with the cursor.
    package var isConfirmed: Bool
    /// A digest of the table mappings under which the cursor was made.
    package var mappingDigest: String
    /// The number of pushed-record notes that the principal had when the stream of this pull began; their echoes may be
    /// in it.
    package var noted: Int64
    /// The last full comparison of each request type with what the replica holds; a type without an entry never had
    /// one.
    package var comparisons: [String: FullComparison]
    /// The ids under which the device knows records that have an id from the backend.
    package var ids: VisibleIDs

    /// Creates a row, by default one that no client has confirmed yet.
    package init(
        principal: Principal, cursor: Cursor, replica: ReplicaID, parent: Cursor?, vector: CheckpointVector,
        schemaVersion: Int?, session: Session, generation: Int, isConfirmed: Bool = false, mappingDigest: String,
        noted: Int64 = 0, comparisons: [String: FullComparison] = [:],
        ids: VisibleIDs = VisibleIDs()
    ) {
        self.ids = ids
        self.principal = principal
        self.cursor = cursor
        self.replica = replica
        self.parent = parent
        self.vector = vector
        self.schemaVersion = schemaVersion
        self.session = session
        self.generation = generation
        self.isConfirmed = isConfirmed
        self.mappingDigest = mappingDigest
        self.noted = noted
        self.comparisons = comparisons
    }
}
