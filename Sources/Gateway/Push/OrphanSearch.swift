// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Ledger
import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel

/// Finds out which refused records refer to a record that their device does not have any more.
///
/// A project was taken away from the user, say, while a new task of it waited on the phone: the backend refuses the task
/// at every sync, and the app shows neither. Only the ledger of the presented cursor tells, so without one no record is
/// an orphan.
struct OrphanSearch: Sendable {
    let scope: PushScope

    /// Returns the orphans among refused operations; none if what is rejected stops no other record anyway.
    ///
    /// A ledger that cannot be read, or that has just been compacted, is only logged: the backend's answer counts.
    func orphans(among indices: [Int]) async -> Set<Int> {
        guard !indices.isEmpty, scope.settings.rejected == .fail, !scope.isRetry else { return [] }
        do {
            guard let held = try await held() else { return [] }
            var orphans: Set<Int> = []
            for index in indices where try await isOrphan(index, held) { orphans.insert(index) }
            return orphans
        } catch {
            scope.logger.notWritten("could not look for what refused records refer to", error)
            return []
        }
    }

    /// Returns what the device holds; nil without an exact ledger.
    private func held() async throws -> HeldRecords? {
        guard scope.services.pullSettings.keepsLedgers, scope.presented != nil else { return nil }
        let context = try await scope.context()
        guard let row = context.row, let outline = context.ledger, outline.isExact else { return nil }
        let notes = try await scope.store.pushNotes(
            of: scope.principal, after: row.noted, limit: DeviceState.maximumNotes)
        return HeldRecords(
            schema: scope.schema, source: StoreLedgerSource(store: scope.store), layers: outline.layers, notes: notes,
            key: scope.services.hashKey)
    }

    /// Returns true if an operation's record refers to a record that the device does not hold, or only to orphans of
    /// the same push.
    private func isOrphan(_ index: Int, _ held: HeldRecords) async throws -> Bool {
        var waiting = [index]
        var seen: Set<Int> = [index]
        while let index = waiting.popLast() {
            let operation = scope.plan.operations[index]
            guard operation.kind != .delete else { continue }
            for reference in scope.reader.references(of: operation) where !reference.id.isEmpty {
                if let other = creation(of: reference) {
                    if seen.insert(other).inserted { waiting.append(other) }
                } else if try await !held.contains(reference) {
                    return true
                }
            }
        }
        return false
    }

    private func creation(of reference: PushReference) -> Int? {
        scope.plan.operations.firstIndex {
            $0.kind != .delete && $0.table == reference.table && $0.id == reference.id
        }
    }
}

extension HeldRecords {
    /// Returns true if the client holds a record; also if its table has no ledger, so that nothing is known.
    fileprivate func contains(_ reference: PushReference) async throws -> Bool {
        guard schema.tables[reference.table].isLedgered else { return true }
        return try await contains(IDHash(id: reference.id, key: key), in: reference.table)
    }
}
