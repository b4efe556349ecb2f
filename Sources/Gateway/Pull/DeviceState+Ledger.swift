// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Deduplication
import GatewayConfig
import Ledger
import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel

// The device's ledger.
extension DeviceState {
    /// Layers with at most this many chunks are preloaded.
    private static let preloadedChunks = 64
    /// This many layers are preloaded at a time, until this many bytes are read; other layers are read on demand.
    private static let preloadedLayers = 32
    private static let preloadedBytes = 16 << 20
    /// The greatest number of notes of pushes that are laid over a ledger in memory: about 12 MB.
    static let maximumNotes = 50_000

    /// Returns what the machine needs to know about the replica's ledger.
    func ledgerContext(_ context: StoredPullContext) -> PullContext.Ledger {
        guard scope.keepsLedgers, let outline = context.ledger else { return PullContext.Ledger() }
        let tuning = scope.services.tuning
        var ledger = PullContext.Ledger(outline, maximumUndos: tuning.undos)
        // With this many additions to the base, lookups take too long.
        ledger.needsCompaction =
            outline.base != nil
            && (outline.deltas.count > tuning.deltas || outline.deltaChunks > tuning.deltaChunks)
        ledger.acceptedAt = context.acceptedAt
        ledger.resyncAt = context.resyncAt
        for (name, type) in scope.query.ledgered {
            ledger.rows[name] = type.parts.reduce(0) { $0 + context.held[$1.table, default: 0] }
        }
        return ledger
    }

    /// Returns true if more records were pushed since the cursor than can be laid over its ledger; everything is
    /// compared then.
    func hasTooManyNotes(sequence: Int64) async throws -> Bool {
        let limit = Self.maximumNotes
        // Each note has a sequence of its own, but many may be about the same record.
        guard scope.keepsLedgers, let row, sequence - row.noted > limit else { return false }
        let notes = try await scope.read { try NoteRules.notes(after: row.noted, limit: limit + 1, of: &$0) }
        guard notes.count > limit else { return false }
        scope.logger.notice(
            "more records were pushed since the cursor than can be kept in mind: everything is compared",
            metadata: ["code": "ledger.too_many_notes", "limit": "\(limit)", "replica": "\(row.replica)"])
        return true
    }

    /// Returns the input for diffing a stream with the device's ledger.
    ///
    /// `isEmpty` says that no lines have come, `comparisonBegan` how many had when the comparison of a type began.
    mutating func diffInput(
        _ plan: LedgerDiffPlan, signs: StreamSigns, isEmpty: Bool, comparisonBegan: UInt64? = nil
    ) async throws -> LedgerDiffInput {
        var input = LedgerDiffInput(
            plan: plan, schema: scope.projection.schema, schemaVersion: scope.projection.schemaVersion,
            order: scope.projection.tableOrder,
            types: scope.keepsLedgers ? scope.query.ledgered : [:], source: scope.store.chunkReader,
            key: scope.services.hashKey)
        input.chunkBytes = scope.services.tuning.chunkBytes
        input.signs = signs
        input.redeliveries = redeliveries
        input.skipsDamage = consulted.skipsDamage
        input.comparisonBegan = comparisonBegan
        input.now = scope.now
        input.tombstonesBefore = input.now - scope.services.configuration.ledger.maxOffline.milliseconds
        input.limit.records = scope.services.tuning.missingRecords
        input.limit.percent = scope.services.configuration.ledger.maxSweep
        ledgersRead = outline.map { [$0.replica: $0.version] } ?? [:]
        guard scope.keepsLedgers, !plan.isFirst else { return input }
        var outlines = plan.basis == .cursor ? [outline].compactMap(\.self) : []
        if plan.basis == .principal {
            // They are only compared with: the new replica builds on none of them.
            outlines = try await scope.read { try ReplicaRules.ledgers(of: &$0) }
        }
        let limit = Self.maximumNotes
        // Nothing is looked up where nothing has come, was pushed or is compared: most pulls.
        let isQuiet = isEmpty && !hasNewNotes && redeliveries.isEmpty && duplicates.isEmpty
        let isIdle = isQuiet && plan.isExact && plan.compared.isEmpty
        input.notes = try await look(at: outlines, &input, notesUpTo: isIdle ? nil : limit + 1)
        if input.notes.count > limit {
            // These were pushed while this pull was streaming: the next pull finds too many from the start.
            if plan.isExact { throw StateError.ledgerChanged }
            input.notes.removeFirst()
        }
        let settle = scope.services.configuration.ledger.settle.milliseconds
        if settle > 0, plan.basis == .cursor, plan.isExact, !plan.compared.isEmpty {
            input.unsettled = try await scope.read {
                try NoteRules.notes(after: 0, madeSince: input.now - settle, limit: limit, of: &$0)
            }
        }
        return input
    }

    /// Prepares reading these ledgers: unless nothing is to be read, reads their small layers, and as many of the
    /// principal's newest notes since the cursor as wanted.
    mutating func look(
        at outlines: [LedgerOutline], _ input: inout LedgerDiffInput, notesUpTo noteLimit: Int?
    ) async throws -> [PushNote] {
        consulted.outlines = outlines
        if Set(outlines.map(\.replica)).count >= ReplicaRules.maximumLedgers { scope.logTooManyDevices() }
        input.ledgers = outlines.map(\.layers)
        guard let noteLimit else { return [] }
        var layers = outlines.flatMap { $0.deltas + $0.undos }[...]
        // The ledgers of two cursors have layers in common.
        if outlines.count > 1 { layers = layers.uniqued[...] }
        layers.removeAll { $0.chunkCount > Self.preloadedChunks }
        while !layers.isEmpty, input.preloaded.bytes < Self.preloadedBytes {
            try await scope.store.chunkReader.load(layers.prefix(Self.preloadedLayers), into: &input.preloaded)
            layers = layers.dropFirst(Self.preloadedLayers)
        }
        guard noteLimit > 0 else { return [] }
        return try await scope.read { try NoteRules.notes(after: row?.noted ?? 0, limit: noteLimit, of: &$0) }
    }

    /// Merges the layers that were added to the replica's ledger into its base.
    mutating func compactLedger() async throws {
        guard let cursor = row?.cursor, let before = outline, let base = before.base,
            var merge = LedgerMerge(of: before, upTo: cursor)
        else { return }
        var settings = LedgerCompaction.Settings()
        settings.chunkBytes = scope.services.tuning.chunkBytes
        settings.batchChunks = scope.services.tuning.batchChunks
        settings.forgetTombstonesBefore = scope.now - scope.services.configuration.ledger.maxOffline.milliseconds
        var compaction = LedgerCompaction(
            source: scope.store.chunkReader, base: base,
            deltas: before.deltas,
            tables: scope.projection.schema.tables.filter(\.isLedgered).map { ($0.name, LedgerShape(table: $0)) },
            key: scope.services.hashKey, settings: settings)
        while let batch = try await compaction.nextBatch() {
            try Task.checkCancellation()
            do {
                merge = try await scope.change { try LedgerRules.compact(batch, of: merge, at: scope.now, in: &$0) }
            } catch StateError.corrupt {
                throw LedgerError.damaged
            }
        }
        // If the ledger was changed since, it is not the one that was compacted, and the pull begins again.
        let compacted = try await scope.read { try $0.replica(before.replica)?.outline(at: cursor) }
        guard let compacted, compacted.version == merge.version else { throw StateError.ledgerChanged }
        outline = compacted
        scope.logger.debug("a ledger was compacted", metadata: ["layers": "\(before.deltas.count)"])
    }
}

extension ArraySlice<LedgerLayer> {
    /// The layers, each once.
    fileprivate var uniqued: [LedgerLayer] {
        var known: Set<LayerID> = []
        return filter { known.insert($0.id).inserted }
    }
}

extension PullScope {
    /// Logs that some ledgers are left out.
    fileprivate func logTooManyDevices() {
        logger.warning(
            "only the ledgers of \(ReplicaRules.maximumLedgers) devices of a principal are compared",
            metadata: ["code": "ledger.too_many_devices"])
    }
}
