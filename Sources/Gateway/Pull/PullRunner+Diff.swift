// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging
import StateStore
import SyncMachines
import SyncModel

/// What came of the lines of a pull, compared with what the client has.
struct DiffedPull {
    /// What goes out.
    let spool: FinishedSpool
    /// The lines as they were diffed, if another pull may go on from their end.
    let lines: (spooler: StreamSpooler, length: SpoolLength)?
    /// What the pull adds to the ledger.
    let layer: LedgerCommit
    let report: LedgerDiffReport
    /// What the answer brings of what has to be delivered again.
    let delivered: [PendingRedelivery]
}

extension PullRunner {
    /// Compares what came with what the client has.
    mutating func diff(_ plan: LedgerDiffPlan) async throws -> LedgerDiffReport {
        if !plan.isFirst { try device.deleteDuplicates(from: &stream.spooler) }
        scope.logger.debug(
            "what came is compared with what the device has",
            metadata: [
                "basis": "\(plan.basis)", "exact": "\(plan.isExact)",
                "untracked": "\(plan.untracked.sorted().joined(separator: " "))",
            ])
        let input = try await device.diffInput(
            plan, signs: stream.spooler.signs, comparisonBegan: comparison?.began)
        let staging = LayerStaging(store: scope.store, clock: scope.services.clock)
        // Ends with this method, at once where batches are left that no commit needs any more.
        async let _: Void = staging.run()
        let writer = LayerWriter(staging)
        var diff = LedgerDiff(input, verdicts: stream.spooler.verdicts)
        var reader = stream.spooler.reader()
        let spool = stream.spooler.spool
        try await diff.run(
            &reader,
            LedgerDiff.Sinks(
                store: { try await writer.append($0) }, spool: { try await spool.append($0) },
                spoolLength: { spool.length }))
        let report = diff.report
        figures.looks += 1
        guard !report.needsSecondLook || plan.isSecondLook else { return report }
        // What the device has twice under other ids is its own affair.
        let isPlain = device.knownIDs == nil || device.duplicates.isEmpty && device.redeliveries.isEmpty
        let lines = isPlain ? (stream.spooler, stream.spooler.length) : nil
        let finished = try await stream.spooler.finish(diff.diffed, absences: diff.absences)
        let hasLayer = scope.keepsLedgers && !scope.query.ledgered.isEmpty
        let layer = hasLayer ? try await writer.finish(counts: diff.counts) : LedgerCommit.none
        diffed = DiffedPull(
            spool: finished, lines: lines, layer: layer,
            report: report, delivered: diff.delivered)
        figures.diffed = diff.figures
        return report
    }
}
