// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Ledger
import LineProjection
import StateStore
import SyncModel

/// Finds out which records a device holds, from the ledger of one of its cursors.
struct LedgerHoldings {
    let store: Accounts
    let schema: Schema
    let key: SipHash.Key

    /// Returns the ids of one table that are held; with `isStreamed` only those that the stream, not a push, has
    /// brought under these ids.
    ///
    /// - Throws: `LedgerError` if the ledger is damaged, or the store's errors.
    func held(
        _ ids: some Collection<String>, of table: Table, in outline: LedgerOutline, isStreamed: Bool = false
    ) async throws -> Set<String> {
        guard outline.base != nil else { return [] }
        // A push leaves no hash of the content.
        return try await found(ids, of: table, in: [outline]) { !isStreamed || $0.content != nil }
    }

    /// Returns the ids of one table whose records went out with a default in place of a value that could not be read,
    /// to any of the devices.
    ///
    /// - Throws: `LedgerError` if a ledger is damaged, or the store's errors.
    func defaulted(
        _ ids: some Collection<String>, of table: Table, in ledgers: [LedgerOutline]
    ) async throws -> Set<String> {
        try await found(ids, of: table, in: ledgers) { $0.isDefaulted }
    }

    private func found(
        _ ids: some Collection<String>, of table: Table, in ledgers: [LedgerOutline], where fits: (LedgerView) -> Bool
    ) async throws -> Set<String> {
        guard table.isLedgered, !ids.isEmpty else { return [] }
        var view = try LedgerView(
            source: store.chunkReader, ledgers: ledgers.map(\.layers), isUnion: ledgers.count > 1,
            table: table.name, shape: LedgerShape(table: table), key: key)
        var found: Set<String> = []
        for (hash, id) in ids.map({ (IDHash(id: $0, key: key), $0) }).sorted(by: { $0.0 < $1.0 }) {
            if try await view.seek(to: hash), view.state == .held, fits(view) { found.insert(id) }
        }
        return found
    }
}
