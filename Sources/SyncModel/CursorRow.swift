// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What a cursor stands for: everything up to its vector is on the device that presents it.
package struct CursorRow: Hashable, Sendable {
    /// Whose it is; to anybody else it is worth nothing.
    package var principal: Principal
    /// The key.
    package var cursor: Cursor
    /// The client database that got it.
    package var replica: ReplicaID
    /// The cursor that was presented when this one was made; nil for the first of a replica.
    package var parent: Cursor?
    /// Where the backend's stream goes on.
    package var vector: CheckpointVector
    /// The client's schema version (LS); nil where it was never told.
    package var schemaVersion: Int?
    /// The backend session under which it was made.
    package var session: Session
    /// How many resets that session had seen.
    package var generation: Int
    /// Whether a client has come back with it.
    package var isConfirmed: Bool
    /// A digest of the table mappings under which it was made.
    package var mappingDigest: String
    /// How many notes of pushes the principal had when the stream of this pull began: their echoes may be in it.
    package var noted: Int64
    /// When each request type was last compared with what the replica holds; a type without one never was.
    package var comparisons: [String: FullComparison]
    /// By which ids its device knows records to which the backend has given ids.
    package var ids: VisibleIDs

    /// A row that no client has confirmed yet.
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
