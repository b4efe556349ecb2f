// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncEngine
import SyncModel

// What a pull does with the ledger of its replica.
extension PullRunner {
    /// Small layers, up to so many chunks, are read at once.
    private static let preloadedChunks = 16
    /// So many layers at a time, until there are so many bytes; the others are read when something is looked for.
    private static let preloadedLayers = 32
    private static let preloadedBytes = 16 << 20
    /// Notes of pushes are laid over a ledger in memory, up to so many: about 12 MB.
    private static let maximumNotes = 50_000

    /// What the machine needs to know of the replica's ledger.
    func ledgerContext(
        _ outline: LedgerOutline?, acceptedAt: Int64, resyncAt: Int64
    ) async throws -> SyncEngine.PullContext.Ledger {
        guard services.pullSettings.comparisons != nil, let outline else { return SyncEngine.PullContext.Ledger() }
        let tuning = services.tuning
        var ledger = SyncEngine.PullContext.Ledger(outline, maximumUndos: tuning.undos)
        // So much was added to the base that finding something takes too long.
        ledger.needsCompaction =
            outline.base != nil
            && (outline.deltas.count > tuning.deltas || outline.deltaChunks > tuning.deltaChunks)
        ledger.acceptedAt = acceptedAt
        ledger.resyncAt = resyncAt
        let layers = (outline.base.map { [$0] } ?? []) + outline.deltas
        let counts = try await services.store.ledgerCounts(of: layers)
        var held: [String: Int] = [:]
        for (table, count) in counts.values.joined() { held[table, default: 0] += count.held }
        for (name, type) in query.ledgered {
            ledger.rows[name] = type.parts.reduce(0) { $0 + held[$1.table, default: 0] }
        }
        return ledger
    }

    /// What a 409 has promised to the client of a cursor; as many as notes are laid over a ledger.
    func pendingRedeliveries(to row: CursorRow?) async throws -> [PendingRedelivery] {
        guard services.pullSettings.comparisons != nil, let row else { return [] }
        return try await services.store.redeliveries(of: row.replica, at: row.cursor, limit: Self.maximumNotes)
    }

    /// Whether more was pushed since a cursor than can be laid over its ledger, so that everything is compared instead.
    func hasTooManyNotes(since row: CursorRow, sequence: Int64) async throws -> Bool {
        let limit = Self.maximumNotes
        // Each note has a sequence of its own, but many of those may be of one record.
        guard services.pullSettings.comparisons != nil, sequence - row.noted > limit,
            try await services.store.hasMorePushNotes(than: limit, of: query.principal, after: row.noted)
        else { return false }
        logger.notice(
            "more records were pushed since the cursor than can be kept in mind: everything is compared",
            metadata: ["code": "ledger.too_many_notes", "limit": "\(limit)", "replica": "\(row.replica)"])
        return true
    }

    /// Does something with the ledger; what cannot be read of it does not stop the device for good.
    mutating func readingLedger(
        _ body: (inout PullRunner) async throws -> PullEvent
    ) async throws -> PullEvent {
        do {
            return try await body(&self)
        } catch let error as LedgerError {
            for outline in consulted + (outline.map { [$0] } ?? []) {
                // Another pull may have compacted a ledger under this one.
                let now = try await services.store.ledger(of: outline.replica)
                guard now.map({ outline.isCurrent($0) }) == true else { throw StateError.ledgerChanged }
            }
            guard !skipsDamage else { throw error }
            skipsDamage = true
            logger.error(
                "a ledger is damaged: the device gets everything and another ledger",
                metadata: [
                    "code": "\(error.rawValue)", "replica": "\(presentedRow?.replica.description ?? "")",
                    "hint": "if it is not the only one, the state's file has suffered: see docs/STATE.md",
                ])
            return .ledgerDamaged
        }
    }

    /// Compares what came with what the client has.
    mutating func diff(_ plan: LedgerDiffPlan) async throws -> LedgerDiffReport {
        if !plan.isFirst { try deleteDuplicates() }
        logger.debug(
            "what came is compared with what the device has",
            metadata: [
                "basis": "\(plan.basis)", "exact": "\(plan.isExact)",
                "untracked": "\(plan.untracked.sorted().joined(separator: " "))",
            ])
        let input = try await diffInput(plan)
        let staging = LayerStaging(store: services.store, clock: services.clock)
        // Ends with this method, at once where batches are left that no commit needs any more.
        async let _: Void = staging.run()
        let writer = LayerWriter(staging)
        var diff = LedgerDiff(input, verdicts: spooler.verdicts)
        var reader = spooler.reader()
        let spool = spooler.spool
        try await diff.run(
            &reader,
            LedgerDiff.Sinks(
                store: { try await writer.append($0) }, spool: { try await spool.append($0) },
                spoolLength: { spool.length }))
        let report = diff.report
        figures.looks += 1
        guard !report.needsSecondLook || plan.isSecondLook else { return report }
        // What the device has twice under other ids is its own affair.
        let isPlain = knownIDs == nil || duplicates.isEmpty && redeliveries.isEmpty
        diffedLines = isPlain ? (spooler, spooler.length) : nil
        finished = try await spooler.finish(diff.diffed, absences: diff.absences)
        layer =
            query.ledgered.isEmpty || services.pullSettings.comparisons == nil
            ? LedgerCommit.none : try await writer.finish(counts: diff.counts)
        diffReport = report
        delivered = diff.delivered
        figures.diffed = diff.figures
        return report
    }

    private mutating func diffInput(_ plan: LedgerDiffPlan) async throws -> LedgerDiffInput {
        let store = services.store
        let hasLedger = services.pullSettings.comparisons != nil
        var input = LedgerDiffInput(
            plan: plan, schema: projection.schema, schemaVersion: projection.schemaVersion,
            order: projection.tableOrder,
            types: hasLedger ? query.ledgered : [:], source: StoreLedgerSource(store: store), key: services.hashKey)
        input.chunkBytes = services.tuning.chunkBytes
        input.signs = spooler.signs
        input.redeliveries = redeliveries
        input.skipsDamage = skipsDamage
        input.comparisonBegan = comparisonBegan
        input.now = services.clock.now
        input.tombstonesBefore = input.now - services.configuration.ledger.maxOffline.milliseconds
        input.limit.records = services.tuning.missingRecords
        input.limit.percent = services.configuration.ledger.maxSweep
        ledgersRead = outline.map { [$0.replica: $0.version] } ?? [:]
        guard hasLedger, !plan.isFirst else { return input }
        switch plan.basis {
        case .nothing: break
        case .cursor:
            if let outline { try await look(at: [outline], &input) }
        case .principal:
            let outlines = try await store.ledgers(of: query.principal)
            for outline in outlines { ledgersRead[outline.replica] = outline.version }
            try await look(at: outlines, &input)
        }
        let limit = Self.maximumNotes
        input.notes = try await store.pushNotes(of: query.principal, after: presentedRow?.noted ?? 0, limit: limit + 1)
        if input.notes.count > limit {
            // Pushed while this pull was streaming: the next one finds too many from the start.
            if plan.isExact { throw StateError.ledgerChanged }
            input.notes.removeFirst()
        }
        return input
    }

    mutating func look(at outlines: [LedgerOutline], _ input: inout LedgerDiffInput) async throws {
        consulted = outlines
        if Set(outlines.map(\.replica)).count >= 1_000 {
            logger.warning(
                "only the ledgers of 1000 devices of a principal are compared",
                metadata: ["code": "ledger.too_many_devices"])
        }
        input.ledgers = outlines.map(\.layers)
        var layers = outlines.flatMap { $0.deltas + $0.undos }[...]
        var bytes = 0
        while !layers.isEmpty, bytes < Self.preloadedBytes {
            let small = try await services.store.ledgerChunks(
                of: Array(layers.prefix(Self.preloadedLayers)), limit: Self.preloadedChunks
            ).chunks
            layers = layers.dropFirst(Self.preloadedLayers)
            bytes += small.values.joined().reduce(0) { $0 + $1.bytes.count }
            input.preloaded.merge(small) { $1 }
        }
    }

    /// Brings what was added to the replica's ledger into its base.
    mutating func compactLedger() async throws {
        guard let cursor = presentedRow?.cursor, let before = outline, let base = before.base else { return }
        let store = services.store
        let deltas = try await store.foldableDeltas(replica: before.replica, upTo: cursor)
        var settings = LedgerCompaction.Settings()
        settings.chunkBytes = services.tuning.chunkBytes
        settings.forgetTombstonesBefore = services.clock.now - services.configuration.ledger.maxOffline.milliseconds
        var compaction = LedgerCompaction(
            source: StoreLedgerSource(store: store), base: base,
            deltas: deltas.map(\.layer),
            tables: projection.schema.tables.filter(\.isLedgered).map { ($0.name, LedgerShape(table: $0)) },
            key: services.hashKey, settings: settings)
        while let batch = try await compaction.nextBatch() {
            try Task.checkCancellation()
            var step = LedgerCompactionBatch(
                replica: before.replica, version: outline?.version ?? before.version, base: base)
            (step.removed, step.added, step.counts) = (batch.removed, batch.added, batch.counts)
            for delta in deltas { step.undo[delta.cursor] = batch.undo[delta.layer] }
            step.finished = batch.isLast ? cursor : nil
            let version = try await store.compactBatch(step, at: services.clock.now)
            outline?.version = version
        }
        outline?.deltas = []
        logger.debug("a ledger was compacted", metadata: ["layers": "\(deltas.count)"])
    }
}

extension LedgerOutline {
    /// Whether a ledger that was read now is the same; the last bit of a version belongs to a compaction under way.
    func isCurrent(_ now: LedgerOutline) -> Bool { now.version | 1 == version | 1 }
}
