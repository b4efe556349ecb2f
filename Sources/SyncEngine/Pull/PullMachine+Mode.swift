// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// What a pull is about: from where on, into which replica, compared with what.
extension PullMachine {
    mutating func contextLoaded(_ context: PullContext) -> PullAction {
        self.context = context
        position = context.session.position
        isStoredUnknown = position == .unknown
        step = .confirmed
        if let row = context.row, !row.isConfirmed, !context.isFork { return .confirm(row.cursor) }
        return foldOrChooseMode()
    }

    mutating func foldOrChooseMode() -> PullAction {
        guard settings.sweeps != nil, context.ledger.needsFolding, context.row != nil, !context.isFork else {
            return chooseMode()
        }
        step = .folded
        return .foldLedger
    }

    mutating func chooseMode() -> PullAction {
        guard !query.isFirst else {
            plan.swept = Set(query.ledgered.keys)
            return beginStream(at: CheckpointVector())
        }
        guard let row = context.row else { return beginUnknown() }
        if !context.isFork { replica = row.replica }
        if let reason = reasonForWhole(row) {
            return streamWhole(because: reason) ?? beginStream(at: CheckpointVector())
        }
        delivery = .later
        plan = SettlementPlan(
            basis: .cursor, output: context.isFork ? .whole : .delta, isFirst: false,
            released: released(row))
        plan.untracked = untracked(row)
        if let kept = query.kept, !context.isFork, kept.session == row.session, kept.generation == row.generation,
            kept.replica == row.replica
        {
            usesKept = true
            vector = kept.vector
            delivery = kept.delivery
            carriedData = true
            step = .verified
            return .verifyCredential
        }
        let start = row.vector.filter { keeps($0, of: row) }
        dueType = dueSweep(row)
        if let name = dueType, let type = query.ledgered[name], type.namespaces.allSatisfy({ start[$0] == nil }) {
            // Such as a type that has taken the place of another: all of it comes without being asked for.
            plan.swept = [name]
            dueType = nil
        }
        return beginStream(at: start)
    }

    /// Why the stream cannot go on from a row; nil where it can.
    private func reasonForWhole(_ row: CursorRow) -> PullRestart? {
        // Where the tokens travel in the request, nothing hangs on a session and no reset concerns other cursors.
        if settings.style == .server {
            guard row.session == query.session else { return .otherSession }
            guard row.generation == context.session.generation else { return .olderGeneration }
        }
        guard settings.sweeps != nil else { return nil }
        if !context.ledger.isExact { return .olderThanLedger }
        return row.cursor.rawValue <= context.ledger.resyncAt ? .resync : nil
    }

    /// The types of which the ledger has never seen everything.
    private func untracked(_ row: CursorRow) -> Set<String> {
        let known = LedgeredType.known(query.ledgered, of: row)
        return Set(query.ledgered.keys).subtracting(known.filter(\.value.isTracked).keys)
    }

    private func released(_ row: CursorRow) -> Set<String> {
        Set(row.sweeps.filter { $0.value.isReleased(by: context.ledger.acceptedAt) }.keys)
    }

    private func dueSweep(_ row: CursorRow) -> String? {
        settings.sweeps?.due(
            mappings: query.ledgered.mapValues(\.mapping), sweeps: row.sweeps, rows: context.ledger.rows,
            replica: row.replica, acceptedAt: context.ledger.acceptedAt, at: context.now)
    }

    /// Prepares for everything; what the client gets of it is what differs from its ledger, or, where there is none,
    /// what `[pull] unknown_cursor` says.
    ///
    /// - Returns: The refusal, where the configuration wants one.
    mutating func streamWhole(because reason: PullRestart) -> PullAction? {
        restart = reason
        // The call that was refused, or the reset, may come after a kept spool was chosen; it is not used then.
        usesKept = false
        // Everything is compared now.
        (dueType, beforeSweep, failedSweep) = (nil, nil, nil)
        guard settings.sweeps != nil, let row = context.row else { return followRule() }
        let untracked = untracked(row)
        // What Rind itself wants to compare is no cursor that leads nowhere.
        let isForced = reason != .resync && reason != .damagedLedger
        if isForced, query.hasUnledgered, settings.unknownCursor == .refuse { return fail(.unknownCursor) }
        if isForced, !context.ledger.hasBase || !untracked.isEmpty, settings.unknownCursor != .adopt {
            // What the ledger has never seen no difference would delete.
            if context.ledger.hasBase { replica = query.newReplica }
            return followRule()
        }
        delivery = .later
        let isExact = context.ledger.isExact
        plan = SettlementPlan(
            basis: isExact ? .cursor : .principal, output: context.isFork || !isExact ? .whole : .delta, isFirst: false,
            isExact: isExact && row.cursor.rawValue > context.ledger.resyncAt, swept: Set(query.ledgered.keys),
            untracked: untracked, released: released(row))
        if !isExact { replica = query.newReplica }
        return nil
    }

    /// A cursor without a row: collected, or never this principal's.
    private mutating func beginUnknown() -> PullAction {
        restart = .unknownCursor
        return followRule() ?? beginStream(at: CheckpointVector())
    }

    private mutating func followRule() -> PullAction? {
        // One that was handed out once is of a device that comes back after long; the ledgers of all the principal's
        // replicas together know at least what it holds (finding 11).
        let wasHandedOut = query.presented.map { $0 <= context.newest ?? $0 } ?? false
        let isKnown = context.hasLedgers && settings.sweeps != nil && !query.hasUnledgered && context.row == nil
        plan = SettlementPlan(
            basis: isKnown ? .principal : .nothing, output: .whole, isFirst: false, isExact: false,
            swept: Set(query.ledgered.keys), untracked: Set(query.ledgered.keys))
        switch settings.unknownCursor {
        case .adopt: delivery = .later
        case _ where isKnown && wasHandedOut && context.newest != nil: delivery = .later
        case .replacement: delivery = .replacement
        case .refuse: return fail(.unknownCursor)
        }
        return nil
    }

    /// Whether a namespace stays in the vector.
    ///
    /// One that is not asked for now would come back later with its deletions gone (finding 25). Under another
    /// configuration even one that nobody has declared may be a leftover.
    private func keeps(_ namespace: String, of row: CursorRow) -> Bool {
        guard row.mappingDigest != query.mappingDigest else { return !query.retiredNamespaces.contains(namespace) }
        return query.askedNamespaces.contains(namespace) || namespace == settings.completeNamespace
    }
}
