// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel

/// What the state has of the device that pulls or pushes: where its cursor stands, what it has, and by which ids.
struct DeviceState {
    let scope: PullScope
    /// The presented cursor as the state knows it, and the ledger as it sees it.
    private(set) var row: CursorRow?
    var outline: LedgerOutline?
    /// The ledgers that were looked at last, and whether what cannot be read of them is passed over.
    var consulted: [LedgerOutline] = []
    var skipsDamage = false
    /// The ledgers that were diffed against, and their versions.
    var ledgersRead: [ReplicaID: Int] = [:]
    /// What has to be delivered again to the client.
    private(set) var redeliveries: [PendingRedelivery] = []
    /// By which ids the device knows records to which the backend has given ids.
    var ids = VisibleIDs()
    var aliases: IDAliases?
    var knownIDs: PrincipalIDs?
    /// What the device may have under ids by which pulls do not call it any more, as of the presented cursor.
    var duplicates: [VisibleIDs.Kept] = []

    init(_ scope: PullScope) { self.scope = scope }

    /// Loads it, for a machine to decide by.
    mutating func load() async throws -> SyncMachines.PullContext {
        let query = scope.query
        let context = try await scope.store.pullContext(
            principal: query.principal, session: query.session, presented: query.presented)
        if context.belongsToAnotherPrincipal {
            // The cursor is worth nothing here, but the operator may want to know (finding 26).
            scope.logger.warning(
                "a cursor of another principal was presented: does the credential rotate?",
                metadata: ["code": "pull.foreign_cursor"])
        }
        row = context.row
        outline = context.ledger
        var ledger = try await ledgerContext(acceptedAt: context.acceptedAt, resyncAt: context.resyncAt)
        if try await hasTooManyNotes(sequence: context.sequence) { ledger.isExact = false }
        if try await !loadIDs(upTo: context.idSequence) { ledger.isExact = false }
        var known = SyncMachines.PullContext(
            row: context.row, isFork: context.isFork,
            isNewestOfReplica: context.newestOfReplica == context.row?.cursor, newest: context.newest,
            session: context.session, sequence: context.sequence, hasLedgers: context.hasLedgers,
            ledger: ledger, pushedVersion: context.pushedVersion, now: scope.now)
        known.hasDuplicates = !duplicates.isEmpty
        known.ids = ids
        return known
    }

    /// Loads what a 409 has promised to the client of the cursor; as much as notes are laid over a ledger.
    mutating func loadRedeliveries() async throws {
        guard scope.keepsLedgers, let row else { return }
        redeliveries = try await scope.store.redeliveries(
            of: row.replica, at: row.cursor, limit: Self.maximumNotes)
    }
}
