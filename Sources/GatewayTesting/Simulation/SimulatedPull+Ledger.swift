// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel

// What the gateway's runner does with the ledger.
extension SimulatedPull {
    /// A compaction that is under way.
    struct Compaction {
        var compaction: LedgerCompaction
        var box: SimulatedLayerBox
        var deltas: [(cursor: Cursor, layer: LayerID)]
    }

    /// Chunks and batches are so small that there are many of them.
    private static let chunkBytes = 90

    func loadContext() -> PullEvent {
        context = simulation.state.context(query, now: simulation.now)
        if let row = context.row, simulation.settings.comparisons != nil {
            outline = simulation.state.outline(of: row.replica, at: row.cursor)
            if outline?.base == nil { outline = nil }
        }
        return .context(context)
    }

    /// One batch of a compaction.
    func compactLedger() async throws -> PullEvent? {
        guard let cursor = context.row?.cursor, var outline, let base = outline.base else { return .done }
        if compaction == nil {
            simulation.count("compaction")
            let deltas = simulation.state.foldable(upTo: cursor)
            let box = SimulatedLayerBox(simulation.state.layers)
            var settings = LedgerCompaction.Settings()
            settings.chunkBytes = Self.chunkBytes
            settings.batchChunks = 1
            settings.readAhead = 2
            settings.forgetTombstonesBefore = simulation.now - Simulation.maxOffline
            compaction = Compaction(
                compaction: LedgerCompaction(
                    source: box, base: base, deltas: deltas.map(\.layer), tables: SimulatedSchema.shapes,
                    key: SimulatedSchema.key, settings: settings), box: box, deltas: deltas)
        }
        guard var compaction else { return .done }
        compaction.box.layers = simulation.state.layers
        guard let batch = try await compaction.compaction.nextBatch() else { return .done }
        guard simulation.state.compact(batch, &outline, upTo: cursor, compaction.deltas) else {
            fail("ledger changed in a compaction")
            return nil
        }
        if batch.isLast { outline = simulation.state.outline(of: outline.replica, at: cursor) }
        self.compaction = compaction
        self.outline = outline
        return batch.isLast ? .done : nil
    }

    /// Compares what came with what the client has.
    func diff(_ plan: LedgerDiffPlan) async throws -> LedgerDiffReport {
        let hasLedger = simulation.settings.comparisons != nil
        diffPlan = plan
        let layers = simulation.state.layers
        var input = LedgerDiffInput(
            plan: plan, schema: SimulatedSchema.schema, schemaVersion: query.effectiveVersion,
            order: SimulatedSchema.order, types: hasLedger ? query.ledgered : [:], source: layers,
            key: SimulatedSchema.key)
        input.signs = spool.signs
        input.comparisonBegan = comparisonBegan
        input.now = simulation.now
        input.tombstonesBefore = simulation.now - Simulation.maxOffline
        input.limit.records = Simulation.comparisonRecords
        input.limit.percent = Simulation.comparisonPercent
        input.chunkBytes = Self.chunkBytes
        ledgersRead = outline.map { [$0] } ?? []
        if hasLedger, !plan.isFirst {
            switch plan.basis {
            case .nothing: break
            case .cursor: input.ledgers = outline.map { [$0.layers] } ?? []
            case .principal:
                let outlines = simulation.state.outlines
                ledgersRead += outlines
                input.ledgers = outlines.map(\.layers)
            }
            // Both ways to read layers have to be right.
            for layer in input.ledgers.joined() where layer.rawValue % 2 == 0 {
                input.preloaded[layer] = layers.chunks(of: layer)
            }
            let noted = context.row?.noted ?? 0
            input.notes = simulation.state.notes.values.filter { $0.sequence > noted }
                .sorted { $0.sequence < $1.sequence }
        }
        var diff = LedgerDiff(input, verdicts: spool.verdicts)
        var reader = spool.reader()
        chunks = []
        try await diff.run(
            &reader,
            LedgerDiff.Sinks(
                store: { self.chunks += $0 }, spool: { self.spool.append($0) },
                spoolLength: { UInt64(self.spool.bytes.count) }))
        let report = diff.report
        self.diff = diff
        count(diff, plan)
        if !report.needsSecondLook { arrays = spool.finish(diff) }
        simulation.note(self, "diffed \(diff.figures)")
        return report
    }

    private func count(_ diff: LedgerDiff, _ plan: LedgerDiffPlan) {
        let (figures, report) = (diff.figures, diff.report)
        if report.needsSecondLook { simulation.count("second look") }
        if !report.suspended.isEmpty { simulation.count("suspended") }
        if !report.blocked.isEmpty { simulation.count("blocked") }
        if figures.absent > 0 { simulation.count("absent") }
        if figures.descendants > 0 { simulation.count("descendants") }
        if figures.equal > 0 { simulation.count("equal") }
        if figures.echoes > 0 { simulation.count("echoes") }
        if figures.repairs > 0 { simulation.count("repairs") }
        simulation.count("basis \(plan.basis)\(plan.isExact ? "" : ", not exact")")
    }
}
