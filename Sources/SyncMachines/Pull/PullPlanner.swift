// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel

/// The plan of a pull: the start of its stream, the basis of the comparison, and the delivery.
struct PullPlan: Sendable {
    /// The comparison of the lines.
    var diff: LedgerDiffPlan
    /// The delivery of the records; certain once the stream is complete.
    var delivery: PullDelivery
    /// The replica that the new cursor belongs to.
    var replica: ReplicaID
    /// The reason for a full stream; nil for an incremental pull.
    var restart: FullStreamReason?
    /// The vector at which the stream begins.
    var start = CheckpointVector()
    /// The request type that is to be compared as a whole once the stream has come to its end.
    var dueType: String?
}

/// Decides what a pull is about, from what the client asks for and what the state knows.
struct PullPlanner: Sendable {
    let query: PullQuery
    let settings: PullSettings
    var context: PullContext
    /// The negotiator's decision about the client's schema version; nothing for a check.
    var negotiation = SchemaNegotiator.Decision(outcome: .nothing)

    /// Decides about the client's schema version.
    mutating func negotiate() {
        negotiation = SchemaNegotiator(query.schema).decide(
            SchemaNegotiator.Query(
                isFirst: query.isFirst, last: context.row?.schemaVersion, stated: query.schemaVersion,
                inferred: inferredVersion, requested: query.requested))
    }

    /// The client's version as its pushes show it; where another line of cursors has gone on, they were another
    /// device's.
    private var inferredVersion: Int? { context.isFork ? nil : context.pushedVersion }

    /// The presented cursor, if it has to be confirmed.
    var unconfirmed: Cursor? {
        guard let row = context.row, !row.isConfirmed, !context.isFork else { return nil }
        return row.cursor
    }

    /// True if the replica's ledger has so many layers that they should be compacted first.
    var needsCompaction: Bool {
        settings.keepsLedgers && context.ledger.needsCompaction && context.row != nil && !context.isFork
    }

    /// Decides what the pull is about.
    ///
    /// - Throws: The failure that the configuration wants for a cursor which the stream cannot go on from.
    func plan() throws(PullFailure) -> PullPlan {
        guard !query.isFirst else {
            return PullPlan(
                diff: LedgerDiffPlan(compared: Set(query.ledgered.keys)), delivery: .first, replica: query.newReplica)
        }
        guard let row = context.row else { return try planByRule(because: .unknownCursor, query.newReplica) }
        if let reason = reasonForWhole(row) { return try planWhole(because: reason) }
        var plan = PullPlan(
            diff: LedgerDiffPlan(
                basis: .cursor, output: context.isFork ? .whole : .delta, isFirst: false, untracked: untracked(row),
                released: released(row)),
            delivery: .incremental, replica: replica(of: row), start: startAfterChange(row))
        plan.diff.late = plan.diff.untracked.union(refused(row))
        applyChange(to: &plan.diff)
        let whole = wholeTypes(from: plan.start, row)
        guard whole.isEmpty else {
            // What comes as a whole without being asked for is compared as a whole, and one thing at a time.
            plan.diff.compared = whole
            return plan
        }
        plan.dueType = dueComparison(row)
        if let name = plan.dueType, let type = query.ledgered[name],
            type.namespaces.allSatisfy({ plan.start[$0] == nil })
        {
            plan.diff.compared = [name]
            plan.dueType = nil
        }
        return plan
    }

    /// Plans for everything; what the client gets of it is what differs from its ledger, or, where there is none, what
    /// `[pull] unknown_cursor` says.
    ///
    /// - Throws: The failure, where the configuration wants one.
    func planWhole(because reason: FullStreamReason) throws(PullFailure) -> PullPlan {
        let replica = context.row.map(replica(of:)) ?? query.newReplica
        guard settings.keepsLedgers, let row = context.row else {
            return try planByRule(because: reason, replica)
        }
        let untracked = untracked(row)
        // What Rind itself wants to compare is no cursor that leads nowhere.
        let isForced = reason != .resync && reason != .damagedLedger
        if isForced, query.hasUnledgered, settings.unknownCursor == .refuse { throw .unknownCursor }
        if isForced, !context.ledger.hasBase || !untracked.isEmpty, settings.unknownCursor != .adopt {
            // What the ledger has never seen no difference would delete.
            return try planByRule(because: reason, context.ledger.hasBase ? query.newReplica : replica)
        }
        let isExact = context.ledger.isExact
        var diff = LedgerDiffPlan(
            basis: isExact ? .cursor : .principal, output: context.isFork || !isExact ? .whole : .delta, isFirst: false,
            isExact: isExact && row.cursor.time > context.ledger.resyncAt, compared: Set(query.ledgered.keys),
            untracked: untracked, released: released(row))
        applyChange(to: &diff)
        return PullPlan(
            diff: diff, delivery: .incremental, replica: isExact ? replica : query.newReplica, restart: reason)
    }

    /// Plans for everything where nothing of what the client has can be told from its ledger.
    private func planByRule(because reason: FullStreamReason, _ replica: ReplicaID) throws(PullFailure) -> PullPlan {
        // One that was handed out once is of a device that comes back after long; the ledgers of all the principal's
        // replicas together know at least what it holds (finding 11). Of another principal's they know nothing.
        let wasHandedOut = query.presented.map { !context.isForeign && $0 <= context.newest ?? $0 } ?? false
        let isKnown = context.hasLedgers && settings.keepsLedgers && !query.hasUnledgered && context.row == nil
        let delivery: PullDelivery =
            switch settings.unknownCursor {
            case .adopt: .incremental
            case _ where isKnown && wasHandedOut && context.newest != nil: .incremental
            case .replacement: .replacement
            case .refuse: throw .unknownCursor
            }
        let types = Set(query.ledgered.keys)
        return PullPlan(
            diff: LedgerDiffPlan(
                basis: isKnown ? .principal : .nothing, output: .whole, isFirst: false, isExact: false,
                compared: types, untracked: types),
            delivery: delivery, replica: replica, restart: reason)
    }

    /// Returns the replica of a row; another one if another chain of cursors goes on from the row.
    private func replica(of row: CursorRow) -> ReplicaID { context.isFork ? query.newReplica : row.replica }

    /// Returns the vector at which the stream goes on; added tables and columns come from their beginning.
    ///
    /// Deletions always go on: no record from before the beginning has to be deleted.
    private func startAfterChange(_ row: CursorRow) -> CheckpointVector {
        let start = row.vector.filter { keeps($0, of: row) }
        guard let change = negotiation.change else { return start }
        let fetched = query.upsertNamespaces(of: change.affected)
        return start.filter { !fetched.contains($0) }
    }

    /// Returns the types that come completely because the client or the configuration has only just got them.
    ///
    /// A type that has replaced another is one of them: the ledger compares its rows by content.
    private func wholeTypes(from start: CheckpointVector, _ row: CursorRow) -> Set<String> {
        guard settings.keepsLedgers else { return [] }
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

    /// Returns true if rows of a table may have gone out to the client although its known version did not
    /// have the table: a client that does not report its version gets all tables.
    private func hasComeBefore(_ table: String) -> Bool {
        guard let row = context.row else { return true }
        return query.upsertNamespaces(of: [table]).contains { row.vector[$0] != nil }
            || query.ledgered.contains { name, type in
                row.comparisons[name] != nil && type.parts.contains { $0.table == table }
            }
    }

    /// Returns the reason why the stream cannot go on from a row; nil if it can.
    func reasonForWhole(_ row: CursorRow) -> FullStreamReason? {
        guard row.cursor.time > context.distrustedAt else { return .distrusted }
        // Where the tokens travel in the request, nothing hangs on a session and no reset concerns other cursors.
        if settings.style == .server {
            guard row.session == query.session else { return .otherSession }
            guard row.generation == context.session.generation else { return .olderGeneration }
        }
        guard settings.keepsLedgers else { return nil }
        if !context.ledger.isExact { return .olderThanLedger }
        return row.cursor.time <= context.ledger.resyncAt ? .resync : nil
    }

    /// Returns the types whose records the ledger has never seen completely.
    func untracked(_ row: CursorRow) -> Set<String> {
        let known = LedgeredType.known(query.ledgered, of: row)
        return Set(query.ledgered.keys).subtracting(known.filter(\.value.isTracked).keys)
    }

    /// Returns the types that the backend has refused since they came, or of which a comparison has failed, be it under
    /// the name that the client's version before had for them.
    private func refused(_ row: CursorRow) -> Set<String> {
        let failed = row.comparisons.filter { $0.value.failures > 0 }
        guard !failed.isEmpty else { return [] }
        return Set(
            query.ledgered.filter { name, type in
                failed[name] != nil || type.others.contains { failed[$0] != nil }
            }.keys)
    }

    private func released(_ row: CursorRow) -> Set<String> {
        Set(row.comparisons.filter { $0.value.isReleased(by: context.ledger.acceptedAt) }.keys)
    }

    private func dueComparison(_ row: CursorRow) -> String? {
        !settings.keepsLedgers ? nil : redeliveryType(row) ?? dueByTime(row)
    }

    /// Returns a type with a record that was refused again and again: the ledger of the type is not trusted then.
    private func redeliveryType(_ row: CursorRow) -> String? {
        let tables = Set(
            context.redeliveries.filter {
                $0.count >= PendingRedelivery.countToComparison
                    && $0.count.isMultiple(of: PendingRedelivery.countToComparison)
            }
            .map(\.table))
        guard !tables.isEmpty else { return nil }
        return query.ledgered.filter { name, type in
            type.parts.contains { tables.contains($0.table) } && mayCompareAgain(row.comparisons[name])
        }.keys.min()
    }

    /// Returns true if a comparison may help: not if one has just run, or if the next one has to wait.
    func mayCompareAgain(_ comparison: FullComparison?) -> Bool {
        guard let comparison else { return true }
        let last = max(comparison.doneAt, comparison.triedAt)
        let pause =
            comparison.triedAt > comparison.doneAt
            ? ComparisonSchedule.pause(after: comparison.failures) : ComparisonSchedule.retryAfter
        return last == 0 || context.now.milliseconds(since: last) >= pause
    }

    private func dueByTime(_ row: CursorRow) -> String? {
        settings.comparisons?.due(
            mappings: query.ledgered.mapValues(\.mapping), comparisons: row.comparisons, rows: context.ledger.rows,
            replica: row.replica, acceptedAt: context.ledger.acceptedAt, at: context.now)
    }

    /// Returns true if a namespace stays in the vector.
    ///
    /// A namespace that is not requested now would come back later without its deletions (finding 25). Under another
    /// configuration even an undeclared one may be a leftover.
    func keeps(_ namespace: String, of row: CursorRow) -> Bool {
        guard row.mappingDigest != query.mappingDigest else { return !query.retiredNamespaces.contains(namespace) }
        return query.requestedNamespaces.contains(namespace) || namespace == settings.completeNamespace
    }
}
