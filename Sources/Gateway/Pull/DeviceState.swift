// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import Logging
import StateStore
import SyncMachines
import SyncModel

/// Holds the state's data about the device that pulls or pushes: its cursor, its ledger, and the ids that it knows
/// records by.
struct DeviceState {
    let scope: PullScope
    /// The presented cursor as the state knows it, and the ledger as of that cursor.
    private(set) var row: CursorRow?
    var outline: LedgerOutline?
    /// The ledgers that were consulted last.
    var consulted = ConsultedLedgers()
    /// The ledgers that the diff has read, with their versions.
    var ledgersRead: [ReplicaID: Int] = [:]
    /// The ages of the presented cursor and of the device; nil if the state knows neither.
    private(set) var ages: SyncFigures.Ages?
    /// The time at which the backend last accepted the session's credential, as the state has it.
    private(set) var lastAccepted: Instant?
    /// The number of the last move of the principal's sessions, as the state has it.
    private(set) var lastMove: Int64 = 0
    /// True if the cursor began another device, whose replica does not exist yet.
    private(set) var isFork = false
    /// True if the replica has got a newer cursor, with which it has not come back.
    private(set) var isBehind = false
    /// The ways in which the replica did not get on last.
    private(set) var troubles: Set<DeviceTrouble.Kind> = []
    /// The rest of earlier pushes of the principal.
    private(set) var unfinished = UnfinishedPushes()
    private var hasRedeliveries = false
    /// True if the principal has pushed since the cursor was made.
    private(set) var hasNewNotes = false
    /// The records that have to be delivered to the client again.
    private(set) var redeliveries: [PendingRedelivery] = []
    /// The ids by which the device knows records that have backend-assigned ids.
    var ids = VisibleIDs()
    var aliases: IDAliases?
    var knownIDs: PrincipalIDs?
    /// Records that the device may have under ids that pulls no longer use, as of the presented cursor.
    var duplicates: [VisibleIDs.Entry] = []

    init(_ scope: PullScope) { self.scope = scope }

    /// Loads the device's data and returns what the machine decides by.
    mutating func load() async throws -> PullContext {
        let context = try await scope.context()
        unfinished = context.unfinished
        guard !scope.awaited.holdUp(unfinished, in: scope.services.journals) else {
            // The pull begins anew behind them, and everything else is loaded and logged then.
            var known = PullContext(now: scope.now)
            known.isHeldUpByPushes = true
            return known
        }
        if context.belongsToAnotherPrincipal {
            // The cursor is useless here, but the operator may want to know (finding 26).
            var metadata: Logger.Metadata = ["code": "pull.foreign_cursor", "principal": "\(scope.query.principal)"]
            if let name = scope.query.principal.scope { metadata["scope"] = "\(ForeignText.cut(name))" }
            scope.logger.warning(
                """
                a cursor of another user or scope was presented: does the credential rotate, or has the app one database \
                for several?
                """, metadata: metadata)
        }
        if let damaged = context.damaged {
            scope.logger.error(
                "what the state knows of a device cannot be read: its cursor is unknown",
                metadata: ["code": "state.corrupt", "replica": "\(damaged)"])
        }
        row = context.row
        ages = context.row.flatMap { row in
            context.firstSeen.map { SyncFigures.Ages(of: row.cursor, since: $0, at: scope.now) }
        }
        isFork = context.isFork
        isBehind = context.newestOfReplica.map { newest in context.row.map { newest > $0.cursor } ?? false } ?? false
        troubles = context.troubles
        (lastAccepted, lastMove) = (context.session.acceptedAt, context.lastMove)
        hasRedeliveries = context.hasRedeliveries
        hasNewNotes = context.sequence > context.row?.noted ?? 0
        outline = context.ledger
        var ledger = ledgerContext(context)
        if try await hasTooManyNotes(sequence: context.sequence) { ledger.isExact = false }
        if try await !loadIDs(upTo: context.idSequence) { ledger.isExact = false }
        var known = PullContext(
            row: context.row, isFork: context.isFork,
            isNewestOfReplica: context.newestOfReplica == context.row?.cursor, newest: context.newest,
            session: scope.services.session(context.session, for: scope.identity), sequence: context.sequence,
            hasLedgers: context.hasLedgers, ledger: ledger, pushedVersion: context.pushedVersion, now: scope.now)
        known.distrustedAt = context.distrustedAt
        known.isForeign = context.belongsToAnotherPrincipal
        known.hasDuplicates = !duplicates.isEmpty
        known.ids = ids
        return known
    }

    /// Loads the redeliveries that 409s have promised to the cursor's client, up to the limit for notes.
    mutating func loadRedeliveries() async throws {
        guard scope.keepsLedgers, hasRedeliveries, let row else { return }
        redeliveries = try await scope.read {
            try RedeliveryRules.pending(for: row.replica, at: row.cursor, limit: Self.maximumNotes, of: &$0)
        }
    }
}
