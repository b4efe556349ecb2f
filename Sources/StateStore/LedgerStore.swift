// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Stores the ledgers, as layers of chunks that are opaque to it, and the notes of pushes.
///
/// A layer is made by a cursor and never changed, except a base, into which ``compactBatch(_:at:)`` merges the layers
/// of its cursors. The contract of ``StateStore`` holds for every method.
package protocol LedgerStore: Sendable {
    /// Returns the chunk that would contain an id: the last one of the layer's table whose first hash is not greater.
    ///
    /// - Returns: Nil if all chunks begin later, or there are none.
    func ledgerChunk(layer: LayerID, table: String, holding id: IDHash) async throws -> StoredChunk?

    /// Returns the chunks of a layer's table that begin after a hash, in order, at most `limit`.
    func ledgerChunks(layer: LayerID, table: String, after first: IDHash?, limit: Int) async throws -> [StoredChunk]

    /// Returns all chunks of small layers at once, by layer; layers with more than `limit` chunks are omitted and
    /// named.
    func ledgerChunks(of layers: [LayerID], limit: Int) async throws -> LedgerLayers

    /// Reads the chunks of layers that may hold ids, by table, so that ``ledgerChunk(layer:table:holding:)`` finds them
    /// at hand: two reads for all of them, or three in a very large ledger.
    func prepareChunks(of layers: [LayerID], holding ids: [String: [IDHash]]) async throws

    /// Creates a layer that is invisible until a commit names it; a layer that no commit names is collected after an
    /// hour.
    ///
    /// The layer is durable only with that commit, not when the method returns.
    func stageLayer(at now: Instant) async throws -> LayerID

    /// Adds chunks to a staged layer, about 1 MiB at a time; no two chunks of a table may begin with the same hash.
    ///
    /// They are durable only with the commit that names the layer.
    ///
    /// - Throws: ``StateError/ledgerChanged`` if the layer no longer exists: start the pull again.
    func stage(_ chunks: [LedgerChunk], in layer: LayerID) async throws

    /// Returns the deltas of a cursor and its ancestors that are not in the base yet, newest first.
    func compactableDeltas(replica: ReplicaID, upTo cursor: Cursor) async throws -> [CompactableDelta]

    /// Merges a part of the deltas into the base, in one transaction; the ledger is correct after every batch.
    ///
    /// Data no longer in use stay readable for an hour, for pulls that began before; those pulls cannot be committed.
    /// The first batch of a compaction carries the version of an outline, every other one the version that the previous
    /// batch returned: this distinguishes a compaction that starts again after an interruption from one that goes on.
    /// A batch is durable only with the next commit, not when the method returns.
    ///
    /// - Returns: The ledger's new version, for the next batch.
    /// - Throws: ``StateError/ledgerChanged`` if the version is not the expected one.
    func compactBatch(_ compaction: LedgerCompactionBatch, at now: Instant) async throws -> Int

    /// Returns the notes of a principal that a cursor has not seen, which are those with a greater sequence, as far as
    /// they were made since a time: the newest `limit` of them, by their sequence.
    func pushNotes(
        of principal: Principal, after sequence: Int64, madeSince time: Instant, limit: Int
    ) async throws -> [PushNote]

    /// Returns true if a principal has more than `limit` notes that a cursor has not seen.
    func hasMorePushNotes(than limit: Int, of principal: Principal, after sequence: Int64) async throws -> Bool

    /// Writes notes, each replacing an older one of its record; their sequences are the next ones of the principal.
    ///
    /// A record whose note is held or gone keeps that state if the new note is seen, and keeps its links if the new
    /// note, for a deletion, has none. The sequences in the given notes are ignored.
    func note(_ notes: [PushNote], principal: Principal, at now: Instant) async throws

    /// Makes room for the notes of a push that is about to begin: only a principal's newest notes stay.
    ///
    /// No more than these are laid over a ledger, so a cursor from before them gets a full comparison either way. No
    /// note is dropped while a push runs, because the notes of a refused push are deleted again. Notes are dropped in
    /// several transactions, which are durable only with the next commit.
    ///
    /// - Returns: The principal's sequence; the notes to come have greater ones.
    func beginNotes(of principal: Principal) async throws -> Int64

    /// Forgets notes with greater sequences whose state is seen, if their records had no note before, in several
    /// transactions that are durable only with the next commit.
    func dropNotes(of principal: Principal, after sequence: Int64) async throws

    /// Returns the pending redeliveries of a replica that one of its cursors has not brought, at most `limit`.
    func redeliveries(of replica: ReplicaID, at cursor: Cursor, limit: Int) async throws -> [PendingRedelivery]

    /// Records the redeliveries that a 409 has named, and counts another 409 for those known already; an unknown
    /// replica is not an error.
    func scheduleRedelivery(_ redeliveries: [PendingRedelivery], to replica: ReplicaID, at now: Instant) async throws

    /// Forgets the redeliveries of successfully pushed records, with their counts.
    ///
    /// Writes nothing if nothing is pending.
    func dropRedeliveries(_ redeliveries: [PendingRedelivery], of replica: ReplicaID) async throws

    /// Returns the outlines of all ledgers of a principal, for a cursor that was collected: each at its newest
    /// confirmed cursor, and also at the newest cursor made from that one that has not come back, if there is one.
    func ledgers(of principal: Principal) async throws -> [LedgerOutline]

    /// Returns a replica's ledger at its newest confirmed cursor, or at its newest one if none is; nil if there is no
    /// such replica.
    func ledger(of replica: ReplicaID) async throws -> LedgerOutline?

    /// Allows the next comparisons of a replica to delete the records that earlier ones held back.
    func acceptDeletions(replica: ReplicaID, at now: Instant) async throws
    /// Makes the full comparison of every request type of a replica due.
    func resync(replica: ReplicaID, at now: Instant) async throws
    /// Forgets a replica with its cursors and its ledger; false if there is none.
    func forget(replica: ReplicaID) async throws -> Bool
}

extension LedgerStore {
    /// Returns the notes of a principal that a cursor has not seen, from whatever time.
    package func pushNotes(of principal: Principal, after sequence: Int64, limit: Int) async throws -> [PushNote] {
        try await pushNotes(of: principal, after: sequence, madeSince: 0, limit: limit)
    }
}

/// A chunk with the number under which it can be replaced.
package struct StoredChunk: Hashable, Sendable {
    /// The store's own number for the chunk.
    package var id: Int64
    /// The chunk.
    package var chunk: LedgerChunk
    /// Creates a stored chunk.
    package init(id: Int64, chunk: LedgerChunk) {
        self.id = id
        self.chunk = chunk
    }
}

/// The chunks of several layers.
package struct LedgerLayers: Hashable, Sendable {
    /// The chunks by layer, with those of a table in order.
    package var chunks: [LayerID: [LedgerChunk]]
    /// The layers with too many chunks to be read at once.
    package var large: Set<LayerID>
    /// Creates the layers.
    package init(chunks: [LayerID: [LedgerChunk]] = [:], large: Set<LayerID> = []) {
        self.chunks = chunks
        self.large = large
    }
}

/// A delta that can be compacted into the base.
package struct CompactableDelta: Hashable, Sendable {
    /// The delta's layer.
    package var layer: LayerID
    /// The cursor that made the delta.
    package var cursor: Cursor
    /// Creates a delta.
    package init(layer: LayerID, cursor: Cursor) {
        self.layer = layer
        self.cursor = cursor
    }
}

/// One step of a compaction: the base chunks that are replaced, their replacements, and their former contents.
package struct LedgerCompactionBatch: Hashable, Sendable {
    /// The replica whose ledger is compacted.
    package var replica: ReplicaID
    /// The version under which everything was read.
    package var version: Int
    /// The base layer.
    package var base: LayerID
    /// The base chunks to remove, by their numbers.
    package var removed: [Int64]
    /// The chunks to add to the base.
    package var added: [LedgerChunk]
    /// The base's former entries, by the cursor whose delta replaced them; they go into that cursor's undo layer.
    package var undo: [Cursor: [LedgerChunk]]
    /// The changes to the counts of the base, by table.
    package var counts: [String: LedgerCount]
    /// The cursor up to which everything is in the base now; its delta and those before it are deleted.
    ///
    /// Nil except in the last step.
    package var finished: Cursor?
    /// Creates a step without changes.
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
