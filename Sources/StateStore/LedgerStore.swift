// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What the state keeps of the ledgers: layers of chunks that are opaque to it, and the notes of pushes.
///
/// A layer is made by cursors and never changed, but for a base, into which ``compactBatch(_:at:)`` brings what its
/// cursors have added. Methods throw ``StateError``, and then nothing has changed.
package protocol LedgerStore: Sendable {
    /// The chunk that an id would be in: the last one of the layer's table whose first hash is not greater.
    ///
    /// - Returns: Nil where all chunks begin later, or there are none.
    func ledgerChunk(layer: LayerID, table: String, holding id: IDHash) async throws -> StoredChunk?

    /// The chunks of a layer's table in their order, those that begin after a hash, at most `limit`.
    func ledgerChunks(layer: LayerID, table: String, after first: IDHash?, limit: Int) async throws -> [StoredChunk]

    /// All chunks of small layers at once, by layer; ones that have more than `limit` chunks are left out and named.
    func ledgerChunks(of layers: [LayerID], limit: Int) async throws -> LedgerLayers

    /// How many chunks and held records a layer has, by table.
    func ledgerCounts(of layers: [LayerID]) async throws -> [LayerID: [String: LedgerCount]]

    /// Makes a layer that nobody can see until a commit names it; one that no commit names is collected after an hour.
    ///
    /// It is durable with that commit, not before.
    func stageLayer(at now: Int64) async throws -> LayerID

    /// Puts chunks into a staged layer, about 1 MiB at a time; no two of a table may begin with the same hash.
    ///
    /// - Throws: ``StateError/ledgerChanged`` where the layer is not there any more: start the pull again.
    func stage(_ chunks: [LedgerChunk], in layer: LayerID) async throws

    /// The deltas of a cursor and its ancestors that are not in the base yet, newest first.
    func foldableDeltas(replica: ReplicaID, upTo cursor: Cursor) async throws -> [FoldableDelta]

    /// Brings a part of the deltas into the base, in one transaction; whatever comes next finds a right ledger.
    ///
    /// What is in use no more can be read for an hour, by pulls that have begun before; they are not committed.
    /// The first step of a compaction has the version of an outline, each other one what the step before has returned:
    /// so a compaction that was interrupted and begins anew is told from one that goes on. Steps need not be durable
    /// before the next commit is.
    ///
    /// - Returns: The ledger's new version, for the next step.
    /// - Throws: ``StateError/ledgerChanged`` where the version is not the one that was read.
    func compactBatch(_ compaction: LedgerCompactionBatch, at now: Int64) async throws -> Int

    /// The notes of a principal that a cursor has not seen, those with a greater sequence: the newest `limit` of them,
    /// by their sequence.
    func pushNotes(of principal: Principal, after sequence: Int64, limit: Int) async throws -> [PushNote]

    /// Whether there are more than `limit` notes of a principal that a cursor has not seen.
    func hasMorePushNotes(than limit: Int, of principal: Principal, after sequence: Int64) async throws -> Bool

    /// Writes notes, each replacing an older one of its record; their sequences are the next ones of the principal.
    ///
    /// One that is held or gone stays so where it is only seen now, and links stay where a deletion names none. The
    /// sequences that the notes come with are not looked at.
    func note(_ notes: [PushNote], principal: Principal, at now: Int64) async throws

    /// Makes room for the notes of a push that is about to begin: of a principal's notes only the newest stay.
    ///
    /// More than these are laid over no ledger, so a cursor from before them is compared as a whole either way. Nothing
    /// is dropped while a push runs: those of one that is refused go again.
    ///
    /// - Returns: The principal's sequence; the notes to come have greater ones.
    func beginNotes(of principal: Principal) async throws -> Int64

    /// Forgets notes with greater sequences that are only seen, of records that no note was there of before.
    func dropNotes(of principal: Principal, after sequence: Int64) async throws

    /// What is pending for a replica as far as one of its cursors has not brought it, at most `limit`.
    func redeliveries(of replica: ReplicaID, at cursor: Cursor, limit: Int) async throws -> [PendingRedelivery]

    /// Writes down what a 409 has named: one more time where it is pending or was; an unknown replica is no error.
    func scheduleRedelivery(_ redeliveries: [PendingRedelivery], to replica: ReplicaID, at now: Int64) async throws

    /// Forgets what was pushed with success, and how often it was refused before.
    ///
    /// Writes nothing where nothing is pending.
    func dropRedeliveries(_ redeliveries: [PendingRedelivery], of replica: ReplicaID) async throws

    /// The outlines of all ledgers of a principal, for a cursor that was collected: each at its newest confirmed cursor
    /// and, where there is one, at the newest that was made from that and has not come back.
    func ledgers(of principal: Principal) async throws -> [LedgerOutline]

    /// One replica's ledger at its newest confirmed cursor, or at its newest one; nil where there is no such replica.
    func ledger(of replica: ReplicaID) async throws -> LedgerOutline?

    /// Lets the next comparisons of a replica delete what earlier ones held back.
    func acceptDeletions(replica: ReplicaID, at now: Int64) async throws
    /// Makes the comparison of every request type of a replica due.
    func resync(replica: ReplicaID, at now: Int64) async throws
    /// Forgets a replica with its cursors and its ledger; false where there was none.
    func forget(replica: ReplicaID) async throws -> Bool
}

/// A chunk and the number under which it can be replaced.
package struct StoredChunk: Hashable, Sendable {
    /// The store's own number.
    package var id: Int64
    /// The chunk.
    package var chunk: LedgerChunk
    /// A stored chunk.
    package init(id: Int64, chunk: LedgerChunk) {
        self.id = id
        self.chunk = chunk
    }
}

/// The chunks of several layers.
package struct LedgerLayers: Hashable, Sendable {
    /// The chunks by layer, those of a table in their order.
    package var chunks: [LayerID: [LedgerChunk]]
    /// Layers that have too many to be read at once.
    package var large: Set<LayerID>
    /// Layers.
    package init(chunks: [LayerID: [LedgerChunk]] = [:], large: Set<LayerID> = []) {
        self.chunks = chunks
        self.large = large
    }
}

/// A delta that can be brought into the base.
package struct FoldableDelta: Hashable, Sendable {
    /// Its layer.
    package var layer: LayerID
    /// The cursor that it was made by.
    package var cursor: Cursor
    /// A delta.
    package init(layer: LayerID, cursor: Cursor) {
        self.layer = layer
        self.cursor = cursor
    }
}

/// One step of compaction: base chunks that give way to others, and what they held before.
package struct LedgerCompactionBatch: Hashable, Sendable {
    /// Whose ledger.
    package var replica: ReplicaID
    /// The version under which everything was read.
    package var version: Int
    /// The base.
    package var base: LayerID
    /// Base chunks that go.
    package var removed: [Int64]
    /// Chunks that come into the base.
    package var added: [LedgerChunk]
    /// By cursor, what was in the base before the cursor's delta came into it; goes into that cursor's undo layer.
    package var undo: [Cursor: [LedgerChunk]]
    /// How the counts of the base change, by table.
    package var counts: [String: LedgerCount]
    /// On the last step: everything up to this cursor is in the base now, and the deltas of these cursors go.
    package var finished: Cursor?
    /// A step.
    package init(replica: ReplicaID, version: Int, base: LayerID) {
        self.replica = replica
        self.version = version
        self.base = base
        removed = []
        added = []
        undo = [:]
        counts = [:]
        finished = nil
    }
}
