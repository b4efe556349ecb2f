// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import SyncEngine
import SyncModel

// What the operator should know of a comparison, once its result is in the state.
extension PullRunner {
    func tell(_ report: SettlementReport, of replica: ReplicaID) {
        let settled = figures.settled
        if settled.repairs > 0 {
            logger.warning(
                "the backend's stream had missed changes, which comparing everything has found",
                metadata: [
                    "types": "\(figures.sweep ?? "")", "repairs": "\(settled.repairs)", "replica": "\(replica)",
                ])
        }
        if !report.blocked.isEmpty {
            logger.error(
                "deletions are held back: too many records are missing from the backend's stream",
                metadata: [
                    "code": "ledger.sweep_blocked", "types": Self.list(report.blocked),
                    "records": "\(settled.heldBack)", "replica": "\(replica)",
                    "hint": "if they are really gone: rind replicas accept \(replica)",
                ])
        }
        if !report.released.isEmpty {
            logger.notice(
                "deletions that were held back have gone out, since the operator has accepted them",
                metadata: [
                    "types": Self.list(report.released), "records": "\(settled.absent)", "replica": "\(replica)",
                ])
        }
        if !report.suspended.isEmpty {
            logger.warning(
                "records were not deleted, because what came does not tell for certain that they are gone",
                metadata: [
                    "code": "ledger.sweep_suspended", "types": Self.list(report.suspended),
                    "records": "\(settled.heldBack)", "replica": "\(replica)",
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

    private static func list(_ types: Set<String>) -> Logger.MetadataValue {
        "\(types.sorted().joined(separator: " "))"
    }
}
