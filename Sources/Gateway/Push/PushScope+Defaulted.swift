// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Ledger
import Logging
import StateStore
import SyncMachines
import SyncModel

extension PushScope {
    /// Returns the pushed records that the device has with a default in place of a value that could not be read: such a
    /// default must not overwrite the value.
    ///
    /// The ledger of the device is read only if its cursor says that it has such records, which almost none does. Where
    /// no cursor says which device pushes, the ledgers of all devices of the principal count.
    ///
    /// - Parameter context: What is known of the presented cursor; nil if there is none.
    /// - Returns: The records.
    /// - Throws: The store's errors.
    func defaulted(at context: StoredPullContext?) async throws -> Set<PushedRecordKey> {
        let sent = plan.operations.filter { $0.kind != .delete }
        guard services.pullSettings.keepsLedgers, !sent.isEmpty else { return [] }
        if let row = context?.row {
            guard let outline = context?.ledger else { return [] }
            let tables = schema.tables.indices.filter { index in
                schema.tables[index].feeds.contains { feed in
                    feed.versions.contains { row.comparisons[$0.requestType]?.hasDefaults == true }
                }
            }
            return try await defaulted(sent.filter { tables.contains($0.table) }, in: [outline])
        }
        let ledgers = try await store.read(principal) { try ReplicaRules.ledgers(of: &$0) }
        return ledgers.isEmpty ? [] : try await defaulted(sent, in: ledgers)
    }

    private func defaulted(
        _ operations: [PushOperation], in ledgers: [LedgerOutline]
    ) async throws -> Set<PushedRecordKey> {
        let holdings = LedgerHoldings(store: store, schema: schema, key: services.hashKey)
        var defaulted: Set<PushedRecordKey> = []
        for (index, operations) in Dictionary(grouping: operations, by: \.table) {
            let table = schema.tables[index]
            do {
                for id in try await holdings.defaulted(operations.map(\.id), of: table, in: ledgers) {
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
