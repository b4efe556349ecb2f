// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging
import StateStore
import SyncMachines
import SyncModel

extension PushScope {
    /// Returns the pushed records that the device has with a default in place of a value that could not be read: such a
    /// default must not overwrite the value.
    ///
    /// The ledger is read only if the cursor says that it has such records, which almost none does.
    func defaulted(at context: StoredPullContext) async throws -> Set<PushedRecordKey> {
        guard services.pullSettings.keepsLedgers, let row = context.row, let outline = context.ledger else { return [] }
        let holdings = LedgerHoldings(store: store, schema: schema, key: services.hashKey)
        var defaulted: Set<PushedRecordKey> = []
        let updates = plan.operations.filter { $0.kind == .update }
        for (index, operations) in Dictionary(grouping: updates, by: \.table) {
            let table = schema.tables[index]
            let types = table.feeds.flatMap { $0.versions.map(\.requestType) }
            guard types.contains(where: { row.comparisons[$0]?.hasDefaults == true }) else { continue }
            do {
                for id in try await holdings.defaulted(operations.map(\.id), of: table, in: outline) {
                    defaulted.insert(PushedRecordKey(table: table.name, id: id))
                }
            } catch let error as LedgerError {
                // The next pull is a full stream and makes another ledger; until then any of them may be one.
                logger.error("a ledger is damaged", metadata: ["code": "\(error.rawValue)"])
                defaulted.formUnion(operations.map { PushedRecordKey(table: table.name, id: $0.id) })
            }
        }
        return defaulted
    }
}
