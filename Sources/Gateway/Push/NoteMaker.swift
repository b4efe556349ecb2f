// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import Ledger
import LineProjection
import SyncModel

/// Makes the notes of pushed records (finding 14).
struct NoteMaker: Sendable {
    let schema: Schema
    let reader: OperationReader
    let hashKey: SipHash.Key

    /// Returns a note that a record is in a state; nil if the record is in no ledger.
    func note(_ operation: PushOperation, _ state: PushNote.State) throws -> PushNote? {
        try note(operation, state, links: links(of:_:))
    }

    private func note(
        _ operation: PushOperation, _ state: PushNote.State, links: (PushOperation, Table) throws -> [UInt64]
    ) rethrows -> PushNote? {
        let table = schema.tables[operation.table]
        // Ids that no client can get back are in no ledger either.
        guard table.isLedgered, RecordID.isSafe(operation.id) else { return nil }
        return PushNote(
            table: table.name, id: operation.id, state: state, links: try links(operation, table),
            shape: LedgerShape(table: table).tag)
    }

    /// Returns a note that the backend has applied an operation.
    ///
    /// The links of the record's earlier *seen* note stay valid.
    func held(_ operation: PushOperation) -> PushNote? {
        note(operation, operation.kind == .delete ? .gone : .held) { _, _ in [] }
    }

    /// Returns the digests of the columns that lead to descendants, as a streamed record would have them.
    private func links(of operation: PushOperation, _ table: Table) throws -> [UInt64] {
        let columns = table.links.map { table.columns[$0.column] }
        guard !columns.isEmpty else { return [] }
        return try reader.withRecord(of: operation) { record in
            columns.map { LinkDigest.of(record.member($0.name), ColumnSpelling($0, of: .client), key: hashKey) }
        } ?? []
    }
}
