// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
package import StateStore
package import SyncModel

extension AccountStore: LedgerStore {
    package func ledgerChunk(layer: LayerID, table: String, holding id: IDHash) async throws -> StoredChunk? {
        try await reader.chunk(holding: id, in: key(table, "table"), of: layers[layer])
    }

    package func ledgerChunks(
        layer: LayerID, table: String, after first: IDHash?, limit: Int
    ) async throws -> [StoredChunk] {
        try await reader.chunks(
            after: first, in: key(table, "table"), of: layers[layer], limit: min(max(0, limit), 1_000))
    }

    package func ledgerChunks(of wanted: [LayerID], limit: Int) async throws -> LedgerLayers {
        let found = try wanted.compactMap { try layers[$0] }
        let small = found.filter { $0.chunkCount <= limit }
        return LedgerLayers(
            chunks: try await reader.chunks(of: small), large: Set(found.filter { $0.chunkCount > limit }.map(\.id)))
    }

    package func prepareChunks(of wanted: [LayerID], holding ids: [String: [IDHash]]) async throws {
        try await reader.prepare(ids, in: wanted.compactMap { try layers[$0] })
    }

    private var reader: ChunkReader { ChunkReader(cache: accounts.chunks) }

    package func stageLayer(at now: Instant) async throws -> LayerID {
        let layer = LayerID(rawValue: accounts.setting.numbers.next(at: now))
        var changes = RowChanges()
        let key = RowKey(.staged, of: 0, number: layer.rawValue)
        changes.rows[key] = ByteRow(key: key, version: 1, number: now.milliseconds, bytes: try StagedChunks().encoded())
        changes.isDurable = false
        try await accounts.commit(changes)
        return layer
    }

    package func stage(_ chunks: [LedgerChunk], in layer: LayerID) async throws {
        let first = try await store.load([.row(RowKey(.staged, of: 0, number: layer.rawValue))])[0].first
        guard let first else { throw StateError.ledgerChanged }
        var (changes, staged) = (RowChanges(), [ChunkHead]())
        for chunk in chunks {
            guard chunk.bytes.count <= limits.chunkBytes else { throw StateError.tooLarge("ledger chunk") }
            let number = accounts.setting.numbers.next(at: Instant(milliseconds: first.number))
            staged.append(
                ChunkHead(
                    table: try key(chunk.table, "table"), first: chunk.first, entries: chunk.entries, number: number,
                    size: chunk.bytes.count))
            changes.chunks[number] = chunk.bytes
        }
        guard let last = staged.last else { return }
        let key = RowKey(.staged, of: 0, layer.rawValue.keyBytes + last.number.keyBytes)
        changes.rows[key] = ByteRow(
            key: key, version: 1, number: first.number, bytes: try StagedChunks(staged).encoded())
        changes.isDurable = false
        try await accounts.commit(changes)
    }

    package func compactableDeltas(replica: ReplicaID, upTo cursor: Cursor) async throws -> [CompactableDelta] {
        guard let principal = try await principal(of: replica) else { throw StateError.replicaUnknown(replica) }
        return try await accounts.read(principal) { account in
            guard let known = try account.replica(replica) else { throw StateError.replicaUnknown(replica) }
            return known.compactableDeltas(upTo: cursor)
        }
    }

    package func compactBatch(_ batch: LedgerCompactionBatch, at now: Instant) async throws -> Int {
        guard let principal = try await principal(of: batch.replica) else {
            throw StateError.replicaUnknown(batch.replica)
        }
        // Another compaction of the same ledger may have begun anew.
        let isBegun = batch.version & 1 == 1
        let begun = isBegun ? merges.withLockedValue { $0[batch.replica] } : nil
        guard !isBegun || begun?.number == Int64(batch.version >> 1) else { throw StateError.ledgerChanged }
        let number = accounts.setting.numbers.next(at: now)
        let (version, next) = try await accounts.change(principal) { account in
            guard let known = try account.replica(batch.replica) else { throw StateError.replicaUnknown(batch.replica) }
            let version = begun?.version ?? batch.version >> 1
            guard known.ledger.version == version, known.ledger.base?.id == batch.base else {
                throw StateError.ledgerChanged
            }
            guard Set(batch.removed).count == batch.removed.count else { throw StateError.ledgerChanged }
            for cursor in batch.undo.keys where cursor <= known.ledger.compacted ?? .first {
                throw StateError.failed("an undo of a cursor that is in the base already")
            }
            var merge =
                begun
                ?? LedgerMerge(replica: batch.replica, base: batch.base, upTo: .first, number: number)
            merge.version = version
            merge.removed.formUnion(batch.removed)
            merge.added += try LedgerRules.write(batch.added, at: now, in: &account)
            for (table, count) in batch.counts { merge.counts[table, default: LedgerCount()].add(count) }
            for (cursor, chunks) in batch.undo { try add(chunks, of: cursor, to: &merge, at: now, in: &account) }
            guard let finished = batch.finished else {
                try LedgerRules.stage(&merge, at: now, in: &account)
                return (Int(merge.number) << 1 | 1, LedgerMerge?.some(merge))
            }
            merge.upTo = finished
            try LedgerRules.merge(merge, at: now, in: &account)
            return ((known.ledger.version + 1) << 1, nil)
        }
        merges.withLockedValue { $0[batch.replica] = next }
        return version
    }

    private func add(
        _ chunks: [LedgerChunk], of cursor: Cursor, to merge: inout LedgerMerge, at now: Instant,
        in account: inout Account
    ) throws {
        guard !chunks.isEmpty else { return }
        let heads = try LedgerRules.write(chunks, at: now, in: &account)
        let index =
            merge.undos.firstIndex { $0.cursor == cursor }
            ?? {
                merge.undos.append(
                    LedgerLayer(id: LayerID(rawValue: account.setting.numbers.next(at: now)), cursor: cursor))
                return merge.undos.count - 1
            }()
        merge.undos[index].chunks = (merge.undos[index].chunks + heads).sorted { $0.precedes($1) }
        for chunk in chunks {
            let count = LedgerCount(entries: chunk.entries, bytes: chunk.bytes.count)
            merge.undos[index].counts[chunk.table, default: LedgerCount()].add(count)
        }
    }

    package func ledgers(of principal: Principal) async throws -> [LedgerOutline] {
        let found = try await accounts.read(principal) { try ReplicaRules.ledgers(of: &$0) }
        for (replica, _) in found { layers.keep(replica.layers) }
        return found.map(\.1)
    }

    package func ledger(of replica: ReplicaID) async throws -> LedgerOutline? {
        guard let principal = try await principal(of: replica) else { return nil }
        guard let known = try await accounts.read(principal, { try $0.replica(replica) }) else { return nil }
        layers.keep(known.layers)
        return known.outline(at: known.tip ?? known.newest)
    }

    package func acceptDeletions(replica: ReplicaID, at now: Instant) async throws {
        let done: Void? = try await change(replica) { try ReplicaRules.acceptDeletions(of: replica, at: now, in: &$0) }
        if done == nil { throw StateError.replicaUnknown(replica) }
    }

    package func resync(replica: ReplicaID, at now: Instant) async throws {
        let done: Void? = try await change(replica) { try ReplicaRules.resync(replica, at: now, in: &$0) }
        if done == nil { throw StateError.replicaUnknown(replica) }
    }

    package func forget(replica: ReplicaID) async throws -> Bool {
        let now = Instant(milliseconds: 0)
        return try await change(replica) { try ReplicaRules.forget(replica, at: now, in: &$0) } ?? false
    }
}
