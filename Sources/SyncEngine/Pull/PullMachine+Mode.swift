// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// What a pull is about: from where on, into which replica, compared with what.
extension PullMachine {
    mutating func contextLoaded(_ context: PullContext) -> PullAction {
        self.context = context
        position = context.session.position
        isStoredUnknown = position == .unknown
        if query.isCheck { return beginCheck() }
        negotiation = SchemaNegotiator(query.schema).decide(
            SchemaNegotiator.Query(
                isFirst: query.isFirst, last: context.row?.schemaVersion, told: query.schemaVersion,
                inferred: inferredVersion, asked: query.asked))
        if case .refuse(let refusal) = negotiation.outcome {
            step = .ended
            return .refuse(refusal)
        }
        step = .confirmed
        if let row = context.row, !row.isConfirmed, !context.isFork { return .confirm(row.cursor) }
        return compactOrChooseMode()
    }

    /// The client's version as its pushes show it; where another line of cursors has gone on, they were another
    /// device's.
    var inferredVersion: Int? { context.isFork ? nil : context.pushedVersion }

    mutating func compactOrChooseMode() -> PullAction {
        guard settings.comparisons != nil, context.ledger.needsCompaction, context.row != nil, !context.isFork else {
            return chooseMode()
        }
        step = .compacted
        return .compactLedger
    }

    mutating func chooseMode() -> PullAction {
        guard !query.isFirst else {
            plan.compared = Set(query.ledgered.keys)
            return beginStream(at: CheckpointVector())
        }
        guard let row = context.row else { return beginUnknown() }
        if !context.isFork { replica = row.replica }
        if let reason = reasonForWhole(row) {
            return streamWhole(because: reason) ?? beginStream(at: CheckpointVector())
        }
        delivery = .later
        plan = LedgerDiffPlan(
            basis: .cursor, output: context.isFork ? .whole : .delta, isFirst: false,
            released: released(row))
        plan.untracked = untracked(row)
        applyChange(to: &plan)
        let start = startAfterChange(row)
        let whole = wholeTypes(from: start, row)
        guard whole.isEmpty else {
            // What comes as a whole without being asked for is compared as a whole, and one thing at a time.
            plan.compared = whole
            return beginStream(at: start)
        }
        dueType = dueComparison(row)
        if let name = dueType, let type = query.ledgered[name], type.namespaces.allSatisfy({ start[$0] == nil }) {
            plan.compared = [name]
            dueType = nil
        }
        return beginStream(at: start)
    }

    /// Where the stream goes on: what the client has only just got comes from its beginning.
    ///
    /// Deletions go on in any case: of what is older than the beginning nothing has to be deleted.
    private mutating func startAfterChange(_ row: CursorRow) -> CheckpointVector {
        let start = row.vector.filter { keeps($0, of: row) }
        guard let change = negotiation.change else { return start }
        let fetched = query.upsertNamespaces(of: change.affected)
        return start.filter { !fetched.contains($0) }
    }

    /// The types of which everything comes because the client or the configuration has only just got them.
    ///
    /// Such as one that has taken the place of another: the ledger compares its rows by content.
    private func wholeTypes(from start: CheckpointVector, _ row: CursorRow) -> Set<String> {
        guard settings.comparisons != nil else { return [] }
        let affected = negotiation.change?.affected ?? []
        return Set(
            query.ledgered.filter { name, type in
                (row.comparisons[name] == nil || type.parts.contains { affected.contains($0.table) })
                    && !type.namespaces.isEmpty && type.namespaces.allSatisfy { start[$0] == nil }
            }.keys)
    }

    /// Puts into the plan what the client has only just got.
    private func applyChange(to plan: inout LedgerDiffPlan) {
        guard let change = negotiation.change else { return }
        plan.renewed = change.tables
        plan.gained = Set(change.columns.keys)
        plan.empty = change.empty.filter { !hasComeBefore($0) }
    }

    /// Whether rows of a table may have gone out to the client although its version, as far as it was known, did not
    /// have it: who does not tell its version gets everything.
    private func hasComeBefore(_ table: String) -> Bool {
        guard let row = context.row else { return true }
        return query.upsertNamespaces(of: [table]).contains { row.vector[$0] != nil }
            || query.ledgered.contains { name, type in
                row.comparisons[name] != nil && type.parts.contains { $0.table == table }
            }
    }

    /// Why the stream cannot go on from a row; nil where it can.
    func reasonForWhole(_ row: CursorRow) -> PullRestart? {
        // Where the tokens travel in the request, nothing hangs on a session and no reset concerns other cursors.
        if settings.style == .server {
            guard row.session == query.session else { return .otherSession }
            guard row.generation == context.session.generation else { return .olderGeneration }
        }
        guard settings.comparisons != nil else { return nil }
        if !context.ledger.isExact { return .olderThanLedger }
        return row.cursor.rawValue <= context.ledger.resyncAt ? .resync : nil
    }

    /// The types of which the ledger has never seen everything.
    func untracked(_ row: CursorRow) -> Set<String> {
        let known = LedgeredType.known(query.ledgered, of: row)
        return Set(query.ledgered.keys).subtracting(known.filter(\.value.isTracked).keys)
    }

    private func released(_ row: CursorRow) -> Set<String> {
        Set(row.comparisons.filter { $0.value.isReleased(by: context.ledger.acceptedAt) }.keys)
    }

    private func dueComparison(_ row: CursorRow) -> String? {
        settings.comparisons == nil ? nil : redeliveryType(row) ?? dueByTime(row)
    }

    /// A type of which a record was refused again and again: nothing that is known of it is believed then.
    private func redeliveryType(_ row: CursorRow) -> String? {
        let tables = Set(
            context.redeliveries.filter {
                $0.count >= PendingRedelivery.countToComparison
                    && $0.count.isMultiple(of: PendingRedelivery.countToComparison)
            }
            .map(\.table))
        guard !tables.isEmpty else { return nil }
        return query.ledgered.filter { name, type in
            type.parts.contains { tables.contains($0.table) } && mayAwaitRedelivery(row.comparisons[name])
        }.keys.min()
    }

    /// Whether a comparison may help: not where one has just been, or where the next try has to wait.
    func mayAwaitRedelivery(_ comparison: FullComparison?) -> Bool {
        guard let comparison else { return true }
        let last = max(comparison.doneAt, comparison.triedAt > 0 ? comparison.triedAt : 0)
        let pause =
            comparison.triedAt > comparison.doneAt
            ? ComparisonSchedule.pause(after: comparison.failures) : ComparisonSchedule.retryAfter
        return last == 0 || context.now - last >= pause
    }

    private func dueByTime(_ row: CursorRow) -> String? {
        settings.comparisons?.due(
            mappings: query.ledgered.mapValues(\.mapping), comparisons: row.comparisons, rows: context.ledger.rows,
            replica: row.replica, acceptedAt: context.ledger.acceptedAt, at: context.now)
    }

    /// Prepares for everything; what the client gets of it is what differs from its ledger, or, where there is none,
    /// what `[pull] unknown_cursor` says.
    ///
    /// - Returns: The refusal, where the configuration wants one.
    mutating func streamWhole(because reason: PullRestart) -> PullAction? {
        restart = reason
        // Everything is compared now.
        (dueType, beforeComparison, failedComparison) = (nil, nil, nil)
        guard settings.comparisons != nil, let row = context.row else { return followRule() }
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
        plan = LedgerDiffPlan(
            basis: isExact ? .cursor : .principal, output: context.isFork || !isExact ? .whole : .delta, isFirst: false,
            isExact: isExact && row.cursor.rawValue > context.ledger.resyncAt, compared: Set(query.ledgered.keys),
            untracked: untracked, released: released(row))
        applyChange(to: &plan)
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
        let isKnown = context.hasLedgers && settings.comparisons != nil && !query.hasUnledgered && context.row == nil
        plan = LedgerDiffPlan(
            basis: isKnown ? .principal : .nothing, output: .whole, isFirst: false, isExact: false,
            compared: Set(query.ledgered.keys), untracked: Set(query.ledgered.keys))
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
    func keeps(_ namespace: String, of row: CursorRow) -> Bool {
        guard row.mappingDigest != query.mappingDigest else { return !query.retiredNamespaces.contains(namespace) }
        return query.askedNamespaces.contains(namespace) || namespace == settings.completeNamespace
    }
}
