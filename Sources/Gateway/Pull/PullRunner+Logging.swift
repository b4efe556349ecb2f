// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Ledger
import Logging
import SyncMachines
import SyncModel

// The log of a pull.
extension PullRunner {
    /// Logs the findings of a comparison, once its result is in the state.
    func log(_ report: LedgerDiffReport, of replica: ReplicaID) {
        let diffed = figures.diffed
        if diffed.repairs > 0 {
            scope.logger.warning(
                "a full comparison found changes that the backend's stream had missed",
                metadata: [
                    "code": "ledger.missed_changes", "types": "\(figures.comparison ?? "")",
                    "repairs": "\(diffed.repairs)", "replica": "\(replica)",
                ])
        }
        if !report.blocked.isEmpty {
            scope.logger.error(
                "deletions are held back: too many records are missing from the backend's stream",
                metadata: [
                    "code": "ledger.sweep_blocked", "types": Self.list(report.blocked),
                    "records": "\(diffed.heldBack)", "replica": "\(replica)",
                    "hint": "if they are really gone: rind replicas accept \(replica)",
                ])
        }
        if !report.released.isEmpty {
            scope.logger.notice(
                "deletions that were held back have gone out, since the operator has accepted them",
                metadata: [
                    "types": Self.list(report.released), "records": "\(diffed.absent)", "replica": "\(replica)",
                ])
        }
        if !report.suspended.isEmpty {
            scope.logger.warning(
                "records were not deleted, because what came does not tell for certain that they are gone",
                metadata: [
                    "code": "ledger.sweep_suspended", "types": Self.list(report.suspended),
                    "records": "\(diffed.heldBack)", "replica": "\(replica)",
                ])
        }
    }

    /// Logs the consequences of the client's schema version for the pull.
    func log(_ decision: SchemaNegotiator.Decision) {
        if !decision.unknown.isEmpty {
            scope.logger.warning(
                "the client asks for tables and columns that the configuration does not have",
                metadata: [
                    "code": "schema.unknown_names", "count": "\(decision.unknown.count)",
                    "names": "\(decision.unknown.prefix(20).map { $0.prefix(64) }.joined(separator: " "))",
                ])
        }
        guard let change = decision.change else { return }
        let columns = change.columns.flatMap { table, names in names.map { "\(table).\($0)" } }
        scope.logger.info(
            "the client has a new schema version: what was added is fetched",
            metadata: [
                "from": "\(change.from)", "to": "\(change.to)",
                "tables": "\(change.tables.sorted().joined(separator: " "))",
                "columns": "\(columns.sorted().joined(separator: " "))",
            ])
    }

    private static func list(_ types: Set<String>) -> Logger.MetadataValue {
        "\(types.sorted().joined(separator: " "))"
    }
}

extension PullScope {
    /// Logs that the backend's tokens are older than before.
    func logSetBack() {
        logger.warning(
            "the backend's tokens have gone back, as after a restored backup: the device was compared with everything",
            metadata: [
                "code": "backend.tokens_went_back",
                "hint": "if the backend was restored: rind state distrust",
            ])
    }
}
