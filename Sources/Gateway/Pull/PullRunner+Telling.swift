// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Logging
import SyncEngine
import SyncModel

// What the operator should know of a comparison, once its result is in the state.
extension PullRunner {
    func tell(_ report: LedgerDiffReport, of replica: ReplicaID) {
        let diffed = figures.diffed
        if diffed.repairs > 0 {
            logger.warning(
                "a full comparison found changes that the backend's stream had missed",
                metadata: [
                    "code": "ledger.missed_changes", "types": "\(figures.comparison ?? "")",
                    "repairs": "\(diffed.repairs)", "replica": "\(replica)",
                ])
        }
        if !report.blocked.isEmpty {
            logger.error(
                "deletions are held back: too many records are missing from the backend's stream",
                metadata: [
                    "code": "ledger.sweep_blocked", "types": Self.list(report.blocked),
                    "records": "\(diffed.heldBack)", "replica": "\(replica)",
                    "hint": "if they are really gone: rind replicas accept \(replica)",
                ])
        }
        if !report.released.isEmpty {
            logger.notice(
                "deletions that were held back have gone out, since the operator has accepted them",
                metadata: [
                    "types": Self.list(report.released), "records": "\(diffed.absent)", "replica": "\(replica)",
                ])
        }
        if !report.suspended.isEmpty {
            logger.warning(
                "records were not deleted, because what came does not tell for certain that they are gone",
                metadata: [
                    "code": "ledger.sweep_suspended", "types": Self.list(report.suspended),
                    "records": "\(diffed.heldBack)", "replica": "\(replica)",
                ])
        }
    }

    /// Names what a mistake of ours was about.
    func tell(unexpected: UnexpectedEvent?) {
        guard let unexpected else { return }
        logger.error(
            "a pull was given up, since something happened that cannot happen at that point",
            metadata: [
                "code": "\(PullFailure.unexpectedEvent.rawValue)", "state": "\(unexpected.state)",
                "event": "\(unexpected.event)",
            ])
    }

    /// Tells how the answer to a stream request ended that came whole and has no complete line.
    mutating func tellBrokenEnd() {
        let end = spooler.finishRequest()
        var metadata: Logger.Metadata = [
            "code": "stream.incomplete", "lines": "\(end.lines)", "call": "\(services.backend.settings.stream.title)",
        ]
        if let type = end.lastType { metadata["last_type"] = "\(type)" }
        guard end.unfinishedBytes > 0 else {
            logger.notice("the backend's stream ended without its complete line", metadata: metadata)
            return
        }
        metadata["code"] = "stream.no_line_end"
        metadata["bytes"] = "\(end.unfinishedBytes)"
        logger.notice("the last line of the backend's stream has no line end, so it is not whole", metadata: metadata)
    }

    /// Tells that the backend does not take checkpoints of its own making; the pull begins anew.
    func tellRefusedTokens(status: Int) {
        logger.error(
            "the backend refuses checkpoints that it has made itself",
            metadata: ["code": "backend.tokens_refused", "status": "\(status)"])
    }

    /// Tells what was wrong with lines, one line for each kind of flaw that was not there before.
    func tellFlaws(since before: StreamFlaws = StreamFlaws()) {
        let kinds = spooler.flaws.kinds.filter { before.kinds[$0.key] == nil }
        for (kind, lines) in kinds.sorted(by: { $0.key.code < $1.key.code }) {
            let first = lines.first.map { "\($0.number)" + ($0.type.map { " (\($0))" } ?? "") }
            logger.notice(
                "lines of the backend's stream are not as agreed on",
                metadata: [
                    "code": "\(kind.code)", "lines": "\(lines.count)", "first": "\(first.joined(separator: ", "))",
                ])
        }
    }

    private static func list(_ types: Set<String>) -> Logger.MetadataValue {
        "\(types.sorted().joined(separator: " "))"
    }
}
