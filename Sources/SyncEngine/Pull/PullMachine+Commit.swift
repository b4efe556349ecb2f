// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// The stream is complete: it is diffed, maybe looked at again, and the new cursor is written.
extension PullMachine {
    mutating func streamComplete() -> PullAction {
        // First what is new, then everything of one type: what only the latter brings, the former should have.
        if let type = dueType {
            step = .comparing
            return .beginComparison(type: type)
        }
        // A pull that may turn out to have brought nothing asks the clock first.
        if let row = context.row, report == nil, isIdle(row, at: row.cursor.rawValue) { return readClock() }
        return diff()
    }

    /// Streams a whole request type; without a place it stays due and the pull ends as any other.
    mutating func comparisonAnswered(_ isGranted: Bool) -> PullAction {
        guard let name = dueType.take(), isGranted, let type = query.ledgered[name] else { return streamComplete() }
        beforeComparison = BeforeComparison(type: name, vector: vector, carriedData: carriedData, resumes: resumes)
        // What belongs to the comparison could not be told from what came before it.
        streamed = nil
        plan.compared = [name]
        if let old = context.row?.comparisons[name], old.doneAt > 0, !old.isBlocked, old.mapping == type.mapping {
            plan.audited = [name]
        }
        vector = vector.filter { !type.namespaces.contains($0) }
        return setPosition()
    }

    /// Ends the pull as one that has not compared anything.
    ///
    /// A type that is too large, or of which the backend fails, must not keep its device from what is new.
    mutating func dropComparison() -> PullAction {
        guard let before = beforeComparison.take() else { return fail(.unexpectedEvent) }
        failedComparison = before.type
        (vector, carriedData, resumes) = (before.vector, before.carriedData, before.resumes)
        plan.compared = []
        plan.audited = []
        plan.isSecondLook = false
        hasLookedTwice = false
        report = nil
        dropQueue()
        // Nobody knows which of the calls has got through.
        position = .unknown
        isStoredUnknown = false
        step = .comparisonDropped
        return .dropComparison(type: before.type, failures: failures(of: before.type))
    }

    private func failures(of type: String) -> Int { (context.row?.comparisons[type]?.failures ?? 0) + 1 }

    mutating func diff() -> PullAction {
        // Of what is not asked for, nothing is gone because it did not come, whatever was to be compared.
        plan.compared.subtract(refusedTypes)
        plan.refused = refusedTypes
        step = .diffing
        return .diff(plan)
    }

    private mutating func readClock() -> PullAction {
        step = .clock
        return .readClock
    }

    /// Looks once more, from where the stream has got to, before anything is deleted because it did not come
    /// (finding 12).
    mutating func diffed(_ report: LedgerDiffReport) -> PullAction {
        self.report = report
        guard report.needsSecondLook, !hasLookedTwice else { return readClock() }
        hasLookedTwice = true
        plan.isSecondLook = true
        return setPosition()
    }

    mutating func clockRead(_ now: Int64) -> PullAction {
        guard let cursor = Cursor(rawValue: now) else { return fail(.clockBehind) }
        if let row = context.row, isIdle(row, at: now) {
            step = .ended
            return .answer(
                PullAnswerPlan(cursor: row.cursor, content: .nothing, delivery: delivery, row: nil, restart: nil))
        }
        guard report != nil else { return diff() }
        if let newest = context.newest, now <= newest.rawValue {
            let lag = newest.rawValue - now
            waits += 1
            guard lag <= Self.clockTolerance, waits <= Self.clockWaits else { return fail(.clockBehind) }
            return .sleep(lag + 1)
        }
        let isContinuation = context.row.map { $0.replica == replica } ?? false
        let row = CursorRow(
            principal: query.principal, cursor: cursor, replica: replica,
            parent: isContinuation ? query.presented : nil, vector: vector, schemaVersion: newSchemaVersion,
            session: query.session, generation: context.session.generation, mappingDigest: query.mappingDigest,
            noted: context.sequence, comparisons: newComparisons)
        step = .committing(row)
        return .commit(row, isNewReplica: !isContinuation)
    }

    /// A pull that brought nothing gives the presented cursor back and writes nothing.
    private func isIdle(_ row: CursorRow, at now: Int64) -> Bool {
        !carriedData && restart == nil && row.replica == replica && context.isNewestOfReplica && plan.compared.isEmpty
            && failedComparison == nil && negotiation.change == nil && newSchemaVersion == row.schemaVersion
            && refusedTypes.isEmpty && context.redeliveries.isEmpty && !context.hasDuplicates
            && row.mappingDigest == query.mappingDigest
            && now - row.cursor.rawValue < Self.idleCursorAge && now >= row.cursor.rawValue
    }

    /// LS of the new row (finding 23): the client's own version where it gets everything, else as was negotiated.
    private var newSchemaVersion: Int? {
        let isEverything = restart != nil && (plan.basis != .cursor || !plan.isExact)
        guard context.row == nil || isEverything else { return negotiation.recorded }
        return negotiation.current ?? negotiation.recorded
    }

    /// When each request type was last compared; one that could not be judged stays due.
    private var newComparisons: [String: FullComparison] {
        guard settings.comparisons != nil else { return [:] }
        var comparisons: [String: FullComparison] = [:]
        let affected = negotiation.change?.affected ?? []
        let known = context.row.map { LedgeredType.known(query.ledgered, of: $0) } ?? [:]
        for (name, type) in query.ledgered {
            let old = known[name]
            let isSuspended = report?.suspended.contains(name) ?? false
            let isBlocked = report?.blocked.contains(name) ?? false
            let isAwaitingRedelivery = (report?.awaitingRedelivery.contains(name) ?? false) && mayAwaitRedelivery(old)
            if refusedTypes.contains(name) {
                // What the client has only just got of it would count as fetched: no hash of it is to be trusted.
                if type.parts.contains(where: { affected.contains($0.table) }) { continue }
                // All of it comes once the backend has it again, and is compared when its time has come.
                comparisons[name] = old.map { old in
                    FullComparison(
                        doneAt: 0, triedAt: context.now, mapping: type.mapping, blockedAt: old.blockedAt,
                        failures: old.failures + 1)
                }
                continue
            }
            switch (
                plan.compared.contains(name),
                isSuspended || isBlocked || isAwaitingRedelivery && !plan.compared.contains(name)
            )
            {
            case (false, false): comparisons[name] = old
            // What is held back without a comparison is found by one, as soon as there is a place.
            case (false, true):
                comparisons[name] = old.map { old in
                    guard old.isTracked else { return old }
                    let triedAt = old.failures > 0 ? old.triedAt : 0
                    return FullComparison(
                        doneAt: 0, triedAt: triedAt, mapping: type.mapping, blockedAt: old.blockedAt,
                        failures: old.failures)
                }
            case (true, false): comparisons[name] = FullComparison(doneAt: context.now, mapping: type.mapping)
            case (true, true):
                let doneAt = restart == nil && old?.mapping == type.mapping ? old?.doneAt ?? 0 : 0
                comparisons[name] = FullComparison(
                    doneAt: doneAt, triedAt: context.now, mapping: type.mapping,
                    // Leave that was given holds until everything can be judged.
                    blockedAt: isBlocked ? context.now : old?.blockedAt ?? 0)
            }
        }
        guard let failedComparison else { return comparisons }
        comparisons[failedComparison, default: FullComparison(doneAt: 0, mapping: "")].triedAt = context.now
        comparisons[failedComparison]?.failures = failures(of: failedComparison)
        return comparisons
    }

    mutating func cursorTaken(_ newest: Cursor) -> PullAction {
        commits += 1
        guard commits < Self.commitAttempts else { return fail(.cursorContention) }
        context.newest = newest
        return readClock()
    }

    mutating func answer(_ row: CursorRow) -> PullAction {
        step = .ended
        var answer = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: delivery, row: row, restart: restart)
        answer.replacesUnledgered =
            restart != nil && delivery == .later && query.hasUnledgered && settings.comparisons != nil
            && settings.unknownCursor == .replacement
        return .answer(answer)
    }
}
