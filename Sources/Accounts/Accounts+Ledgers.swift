// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
package import SyncModel

extension Accounts {
    /// Finds and reads the chunks of ledgers.
    package var chunkReader: ChunkReader { ChunkReader(cache: chunks) }

    /// Creates a layer that is invisible until a commit names it; a layer that no commit names is collected after an
    /// hour.
    ///
    /// The layer is durable only with that commit, not when the method returns.
    package func stageLayer(at now: Instant) async throws -> LayerID {
        let layer = LayerID(rawValue: setting.number(now))
        _ = try await stage([], at: RowKey(.staged, of: 0, number: layer.rawValue), now.milliseconds)
        return layer
    }

    /// Adds chunks to a staged layer, about 1 MiB at a time; no two chunks of a table may begin with the same hash.
    ///
    /// They are durable only with the commit that names the layer.
    ///
    /// - Throws: ``StateError/ledgerChanged`` if the layer no longer exists: start the pull again.
    package func stage(_ chunks: [LedgerChunk], in layer: LayerID) async throws {
        let first = try await store.rows(.row(RowKey(.staged, of: 0, number: layer.rawValue))).first
        guard let first else { throw StateError.ledgerChanged }
        // Another gateway may draw the same number.
        for _ in 0..<Turns.freeAttempts {
            let (heads, contents) = try numbered(chunks, at: Instant(milliseconds: first.number))
            guard let last = heads.last else { return }
            let key = RowKey(.staged, of: 0, layer.rawValue.keyBytes + last.number.keyBytes)
            if try await stage(heads, at: key, first.number, with: contents) { return }
        }
        throw StateError.busy
    }

    private func numbered(
        _ chunks: [LedgerChunk], at time: Instant
    ) throws(StateError) -> (heads: [ChunkHead], contents: [Int64: [UInt8]]) {
        var (heads, contents): ([ChunkHead], [Int64: [UInt8]]) = ([], [:])
        for chunk in chunks {
            guard chunk.bytes.count <= limits.chunkBytes else { throw .tooLarge("ledger chunk") }
            let number = setting.number(time)
            heads.append(
                ChunkHead(
                    table: try key(chunk.table, "table"), first: chunk.first, entries: chunk.entries, number: number,
                    size: chunk.bytes.count))
            contents[number] = chunk.bytes
        }
        return (heads, contents)
    }

    private func stage(
        _ staged: [ChunkHead], at key: RowKey, _ time: Int64, with contents: [Int64: [UInt8]] = [:]
    ) async throws -> Bool {
        var changes = RowChanges()
        changes.rows[key] = ByteRow(key: key, version: 1, number: time, bytes: try StagedChunks(staged).encoded())
        changes.chunks = contents
        changes.isDurable = false
        return try await isMade(changes)
    }

    /// Makes room for the notes of a push that is about to begin: only a principal's newest notes stay.
    ///
    /// No more than these are laid over a ledger, so a cursor from before them gets a full comparison either way. No
    /// note is dropped while a push runs, because the notes of a refused push are deleted again. Notes are dropped in
    /// several transactions, which are durable only with the next commit.
    ///
    /// - Returns: The principal's sequence; the notes to come have greater ones.
    package func beginNotes(of principal: Principal) async throws -> Int64 {
        while try await change(principal, { try NoteRules.makeRoom(in: &$0) }) {}
        return try await read(principal) { try $0.head()?.noteSequence ?? 0 }
    }

    /// Forgets notes with greater sequences whose state is seen, if their records had no note before, in several
    /// transactions that are durable only with the next commit.
    package func dropNotes(of principal: Principal, after sequence: Int64) async throws {
        var next: Int64? = sequence
        while let after = next {
            next = try await change(principal) { try NoteRules.dropFresh(after: after, in: &$0) }
        }
    }
}
