// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import JSONBytes
import Logging
import StateStore
import SyncEngine
import SyncModel

// What a push means for the ledgers of its principal's devices (design §4, finding 14).
extension PushRunner {
    /// Writes down that all operations are about to be sent.
    func noteSeen() async throws {
        try await note(plan.operations) { _ in .seen }
    }

    /// Writes down that the backend has the first `count` operations, but for those that it will never take.
    func noteHeld(_ count: Int) async throws {
        let applied = plan.operations.prefix(count).enumerated().filter { !rejected.contains($0.offset) }
        try await note(applied.map(\.element)) { $0 == .delete ? .gone : .held }
        guard let row else { return }
        let settled = applied.map { Debt(table: reader.tableName(of: $0.element), id: $0.element.id) }
        try await services.store.dropDebts(settled, of: row.replica)
    }

    /// Writes down what the next pull of the device has to bring; where that fails the client hears of the conflict all
    /// the same.
    func owe(_ records: [PushRefusal.Record]) async {
        guard let row else { return }
        let schema = services.configuration.schema
        let debts = records.filter { RecordID.isSafe($0.id) && schema.table(named: $0.table)?.isLedgered == true }
            .map { Debt(table: $0.table, id: $0.id) }
        do {
            try await services.store.owe(debts, to: row.replica, at: services.clock.now)
        } catch {
            logger.error("what a conflict owes is not noted", metadata: ["error": "\(error)"])
        }
    }

    /// Writes down that the backend has refused operations and that their client takes them for synced all the same.
    func noteRefused(_ places: Set<Int>) async throws {
        guard services.pullSettings.sweeps != nil else { return }
        try await note(places.sorted().map { plan.operations[$0] }) { _ in .refused }
    }

    /// Writes down what the backend has of a push that comes to no end: an error, or a client that has hung up.
    ///
    /// Without it what was created would count as only seen, and stay on its device for ever if it goes before the next
    /// pull. Runs in a task that is cancelled, too: writes of the state are finished whatever becomes of their caller.
    func noteApplied(_ count: Int) async {
        guard count > 0, services.pullSettings.sweeps != nil else { return }
        do {
            try await noteHeld(count)
        } catch {
            logger.error("an applied push is not noted", metadata: ["operations": "\(count)", "error": "\(error)"])
        }
    }

    private func note(
        _ operations: [PushOperation], state: (PushOperation.Kind) -> PushNote.State
    ) async throws {
        var notes: [PushNote] = []
        for operation in operations {
            let table = services.configuration.schema.tables[operation.table]
            // Ids that no client can get back are in no ledger either.
            guard table.isLedgered, RecordID.isSafe(operation.id) else { continue }
            notes.append(
                PushNote(
                    table: table.name, id: operation.id, state: state(operation.kind),
                    links: try links(of: operation, table), shape: LedgerShape(table: table).tag))
        }
        guard !notes.isEmpty else { return }
        try await services.store.note(notes, principal: identity.principal, at: services.clock.now)
    }

    /// The digests of the columns by which descendants are found, as a streamed record would have them.
    private func links(of operation: PushOperation, _ table: Table) throws -> [UInt64] {
        let columns = table.links.map { table.columns[$0.column] }
        guard !columns.isEmpty else { return [] }
        return try reader.withRecord(of: operation) { record in
            columns.map { LinkDigest.of(record.member($0.name), as: $0.type, key: services.hashKey) }
        } ?? []
    }
}
