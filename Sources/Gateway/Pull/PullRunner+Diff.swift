// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging
import StateStore
import SyncMachines
import SyncModel

/// The lines of a pull, diffed with the client's ledger.
struct DiffedPull {
    /// The records of the answer.
    let spool: FinishedSpool
    /// The lines as they were diffed, if another pull may go on from their end.
    let lines: (spooler: StreamSpooler, length: SpoolLength)?
    /// The layer that the pull adds to the ledger.
    let layer: LedgerCommit
    let report: LedgerDiffReport
    /// The pending redeliveries that the answer delivers.
    let delivered: [PendingRedelivery]
}

extension PullRunner {
    /// Diffs the received lines with the client's ledger.
    mutating func diff(_ plan: LedgerDiffPlan) async throws -> LedgerDiffReport {
        if !plan.isFirst { try device.deleteDuplicates(from: &stream.spooler) }
        scope.logger.debug(
            "what came is compared with what the device has",
            metadata: [
                "basis": "\(plan.basis)", "exact": "\(plan.isExact)",
                "untracked": "\(plan.untracked.sorted().joined(separator: " "))",
            ])
        let input = try await device.diffInput(
            plan, signs: stream.spooler.signs, isEmpty: stream.spooler.isEmpty, comparisonBegan: comparison?.began)
        let staging = LayerStaging(store: scope.store, clock: scope.services.clock)
        // Ends with this method, at once even if batches are left that no commit needs.
        async let _: Void = staging.run()
        let writer = LayerWriter(staging)
        var (diff, reader) = (LedgerDiff(input, verdicts: stream.spooler.verdicts), stream.spooler.reader())
        let spool = stream.spooler.spool
        try await diff.run(
            &reader,
            LedgerDiff.Sinks(
                store: { try await writer.append($0) }, spool: { try await spool.append($0) },
                spoolLength: { spool.length }))
        try await device.consulted.checkSkipped(scope)
        let report = diff.report
        figures.looks += 1
        guard !report.needsSecondLook || plan.isSecondLook else { return report }
        // Duplicates that a device has under other ids concern that device only.
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
