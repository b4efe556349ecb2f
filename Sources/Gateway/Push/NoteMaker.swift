// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncEngine
import SyncModel

/// Makes the notes of pushed records (design §4, finding 14).
struct NoteMaker: Sendable {
    let schema: Schema
    let reader: OperationReader
    let hashKey: SipHash.Key

    /// A note that a record is in a state; nil for one that is in no ledger.
    func note(_ operation: PushOperation, _ state: PushNote.State) throws -> PushNote? {
        let table = schema.tables[operation.table]
        // Ids that no client can get back are in no ledger either.
        guard table.isLedgered, RecordID.isSafe(operation.id) else { return nil }
        return PushNote(
            table: table.name, id: operation.id, state: state, links: try links(of: operation, table),
            shape: LedgerShape(table: table).tag)
    }

    /// A note that the backend has applied an operation.
    func held(_ operation: PushOperation) throws -> PushNote? {
        try note(operation, operation.kind == .delete ? .gone : .held)
    }

    /// The digests of the columns by which descendants are found, as a streamed record would have them.
    private func links(of operation: PushOperation, _ table: Table) throws -> [UInt64] {
        let columns = table.links.map { table.columns[$0.column] }
        guard !columns.isEmpty else { return [] }
        return try reader.withRecord(of: operation) { record in
            columns.map { LinkDigest.of(record.member($0.name), as: $0.type, key: hashKey) }
        } ?? []
    }
}
