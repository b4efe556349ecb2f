// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import Ledger
import LineProjection
import Logging
import SyncMachines
import SyncModel

/// Finds out which refused records refer to a record that their device does not have any more.
///
/// A project was taken away from the user, say, while a new task of it waited on the phone: the backend refuses the
/// task at every sync, and the app shows neither. Only the ledger of the presented cursor tells, so without one no
/// record is an orphan.
struct OrphanSearch: Sendable {
    let scope: PushScope

    /// Returns the orphans among refused operations; none if what is rejected stops no other record anyway.
    ///
    /// A ledger that cannot be read, or that has just been compacted, is only logged: the backend's answer counts.
    func orphans(among indices: [Int]) async -> Set<Int> {
        guard !indices.isEmpty, scope.settings.rejected == .fail, !scope.isRetry,
            scope.services.pullSettings.keepsLedgers
        else { return [] }
        do {
            guard let ledger = try await scope.ledger() else { return [] }
            let held = try await scope.held(ledger)
            var orphans: Set<Int> = []
            for index in indices where try await isOrphan(index, held, tracked: ledger.row.comparisons) {
                orphans.insert(index)
            }
            return orphans
        } catch {
            scope.logger.notWritten("could not look for what refused records refer to", error)
            return []
        }
    }

    /// Returns true if an operation's record refers to a record that the device does not hold, or to an orphan of the
    /// same push.
    private func isOrphan(
        _ index: Int, _ held: HeldRecords, tracked comparisons: [String: FullComparison]
    ) async throws -> Bool {
        var waiting = [index]
        var seen: Set<Int> = [index]
        while let index = waiting.popLast() {
            let operation = scope.plan.operations[index]
            guard operation.kind != .delete else { continue }
            for reference in scope.reader.references(of: operation) where !reference.id.isEmpty {
                if let other = creation(of: reference) {
                    if seen.insert(other).inserted { waiting.append(other) }
                } else if isTracked(scope.schema.tables[reference.table], comparisons) {
                    let hash = IDHash(id: reference.id, key: held.key)
                    if try await !held.contains(hash, in: reference.table) { return true }
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

    /// Returns true if the ledger has seen all of a table once: else the device may hold what the ledger does not.
    private func isTracked(_ table: Table, _ comparisons: [String: FullComparison]) -> Bool {
        table.isLedgered
            && table.feeds.allSatisfy { feed in
                feed.versions.contains { comparisons[$0.requestType]?.isTracked == true }
            }
    }
}
