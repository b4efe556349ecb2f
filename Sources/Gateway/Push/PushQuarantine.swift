// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel

/// Quarantines records that the backend refuses for good (`[push] rejected = quarantine`), and removes those that it
/// has taken since.
struct PushQuarantine {
    /// The number of entries that a log line names.
    private static let shown = 20

    let scope: PushScope

    /// Returns true if operations can be quarantined; if not, the push fails and the log has the reason.
    func hasRoom(for indices: Set<Int>) -> Bool {
        let (push, operations) = (scope.settings, indices.map { scope.plan.operations[$0] })
        if let large = operations.first(where: { size($0) > push.quarantineRecord }) {
            scope.logger.error(
                "a record that the backend refuses is too large for the quarantine, so its push fails",
                metadata: [
                    "code": "push.quarantine_too_large", "table": "\(scope.reader.tableName(of: large))",
                    "bytes": "\(size(large))", "limit": "\(push.quarantineRecord)",
                ])
            return false
        }
        let entries = scope.quarantined.count
        let added = Set(operations.map(scope.reader.key)).subtracting(scope.quarantined.keys).count
        guard entries + added > push.quarantineEntries else { return true }
        scope.logger.error(
            "the quarantine has no room for the records that the backend refuses, so the push fails",
            metadata: [
                "code": "push.quarantine_full", "entries": "\(entries)", "limit": "\(push.quarantineEntries)",
                "principal": "\(scope.principal)",
                "hint": "rind quarantine list --pushes --principal \(scope.principal)",
            ])
        return false
    }

    /// Returns the number of bytes that an entry takes: its record's, or a deletion's id.
    private func size(_ operation: PushOperation) -> Int { operation.range?.count ?? operation.id.utf8.count }

    /// Puts operations into quarantine, durably.
    func quarantine(_ indices: Set<Int>, because refusals: PushRefusals) async throws {
        let pushes = indices.sorted().map { index in
            let operation = scope.plan.operations[index]
            return QuarantinedOperation(
                key: scope.key(at: index), kind: operation.kind,
                body: scope.reader.bytes(of: operation),
                reason: refusals.reason(at: index))
        }
        let ids = try await scope.change {
            try QuarantineRules.add(pushes, limit: scope.settings.quarantineEntries, at: scope.now, in: &$0)
        }
        let names = ids.prefix(Self.shown).map { "push-\($0)" }.joined(separator: " ")
        scope.logger.error(
            "records that the backend refuses are in quarantine; their devices take them for synced",
            metadata: [
                "code": "push.quarantined", "records": "\(ids.count)", "entries": "\(names)",
                "tables": "\(Set(pushes.map(\.key.table)).sorted().joined(separator: " "))",
                "principal": "\(scope.principal)", "hint": "rind quarantine show push-\(ids.first ?? 0)",
            ])
    }

    /// Removes the entries of records that the backend has taken with this push, or that their client has deleted, and
    /// returns the records.
    func remove(_ taken: Set<Int>) async throws -> [PushedRecordKey] {
        guard !scope.quarantined.isEmpty else { return [] }
        let keys = taken.map(scope.key(at:)).filter { scope.quarantined[$0] != nil }
        guard !keys.isEmpty else { return [] }
        try await scope.change { try QuarantineRules.remove(keys, in: &$0) }
        scope.logger.notice(
            "the backend has taken quarantined records", metadata: ["records": "\(keys.count)"])
        return keys
    }

    /// Removes the entries of records that the backend has taken from a push that failed.
    ///
    /// Otherwise a later retry of such an entry would overwrite a newer state of its record with an older one. An error
    /// of the state is only logged, since the push has one of its own.
    func removeAfterFailure(_ taken: Set<Int>) async {
        do {
            _ = try await remove(taken)
        } catch {
            scope.logger.notWritten("could not take accepted records out of quarantine", error)
        }
    }
}
