// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Ledger
import StateStore
import SyncModel

// What the pushing device holds.
extension PushScope {
    /// The ledger of the presented cursor.
    typealias PresentedLedger = (row: CursorRow, outline: LedgerOutline)

    /// Returns the ledger of the presented cursor; nil if there is none, or if it is not exact.
    func ledger() async throws -> PresentedLedger? {
        guard presented != nil else { return nil }
        let context = try await context()
        guard let row = context.row, let outline = context.ledger, outline.base != nil || !outline.deltas.isEmpty,
            outline.isExact
        else { return nil }
        return (row, outline)
    }

    /// Returns the records of a ledger, under the notes of newer pushes.
    func held(_ ledger: PresentedLedger) async throws -> HeldRecords {
        let notes = try await store.read(principal) {
            try NoteRules.notes(after: ledger.row.noted, limit: DeviceState.maximumNotes, of: &$0)
        }
        return HeldRecords(
            schema: schema, source: store.chunkReader, layers: ledger.outline.layers, notes: notes,
            key: services.hashKey)
    }
}
