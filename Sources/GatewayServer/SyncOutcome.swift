// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import Telemetry

/// The end of a request, as the metrics count it.
struct SyncOutcome {
    /// The figures of a sync; nil for other requests, and for a sync that has failed without any.
    let figures: SyncFigures?
    /// The code of the failure; empty if there is none.
    let code: String
    let status: Int
    /// True if the client got the whole answer.
    let isComplete: Bool

    /// The result in one word.
    var result: String {
        guard isComplete else { return "cut" }
        switch status {
        case ..<400: return "ok"
        case ..<500: return "refused"
        default: return "failed"
        }
    }
}

extension GatewayMetrics {
    /// Counts a request that has ended.
    func observe(_ outcome: SyncOutcome, kind: String, trace: SyncTrace.Content?, duration: Duration) {
        let status = outcome.isComplete ? Self.statusClass(outcome.status) : "cut"
        count(.requests, labels: Labels(first: kind, second: status))
        guard let trace else { return }
        let figures = outcome.figures
        count(
            .syncs,
            labels: Labels(
                first: trace.kind.rawValue, second: figures?.mode ?? "", third: outcome.result,
                fourth: outcome.code))
        observe(.syncTime, duration, labels: Labels(first: trace.kind.rawValue))
        observe(trace)
        add(.missingResults, trace.missingResults)
        if let figures { add(figures) }
    }

    private func add(_ figures: SyncFigures) {
        add(.lines, figures.lines)
        add(.lineBytes, figures.backendBytes)
        add(.resumes, figures.resumes)
        add(.cachedAnswers, figures.linesKept > 0 ? 1 : 0)
        add(.quarantinedLines, figures.quarantined)
        add(.repairedValues, figures.repaired)
        for problem in figures.columnProblems {
            let labels = Labels(first: problem.table, second: problem.column, third: problem.kind.rawValue)
            add(.columnValues, problem.count, labels: labels)
        }
        add(.ledgerRepairs, figures.repairs)
        add(.heldBack, figures.heldBack)
        add(.absences, figures.absent)
        if let reason = figures.restart { count(.fullStreams, labels: Labels(first: reason)) }
        if let ages = figures.ages {
            observe(.checkpointLag, ages.cursor, labels: Labels(first: ages.deviceClass))
        }
        for (table, records) in figures.conflicts { add(.conflicts, records, labels: Labels(first: table)) }
    }
}

extension SyncFigures.Ages {
    /// The age of the device in one of a few words, as a label.
    fileprivate var deviceClass: String {
        let ends: [(days: Int64, name: String)] = [(1, "day"), (7, "week"), (30, "month")]
        return ends.first { device < .seconds($0.days * 86_400) }?.name ?? "older"
    }
}
