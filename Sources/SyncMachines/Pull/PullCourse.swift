// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel

/// A pull that streams: its plan, its stream, and what has become of both so far.
struct PullCourse: Sendable {
    var planner: PullPlanner
    var plan: PullPlan
    var stream: StreamMachine
    /// The beginning of the lines that have come, and the types that are complete among them; nil if they are more than
    /// one stream, or less.
    fileprivate var streamed: CachedAnswer?
    /// The request type whose comparison has failed.
    var failedComparison: String?

    /// Creates a course that has not begun.
    init(_ planner: PullPlanner, _ plan: PullPlan) {
        self.planner = planner
        self.plan = plan
        stream = StreamMachine(
            StreamQuery(planner.query, planner.settings, isCheck: false), session: planner.context.session)
    }

    private var query: PullQuery { planner.query }
    private var context: PullContext { planner.context }

    /// Begins to stream; what an earlier pull has streamed from there on need not come again.
    mutating func begin() -> StreamStep {
        let beginning = beginning(at: plan.start)
        streamed = beginning
        guard let cached = query.cached, plan.restart != .distrusted, cached.continues(beginning) else {
            return stream.begin(at: plan.start)
        }
        return stream.begin(behind: cached)
    }

    /// Throws away what has come, and streams everything, as `begin` begins it.
    mutating func startOver(_ begin: (inout StreamMachine) -> StreamStep) -> StreamStep {
        streamed = beginning(at: CheckpointVector())
        plan.diff.isSecondLook = false
        return begin(&stream)
    }

    /// Streams a whole request type behind what has come.
    mutating func compare(_ name: String, _ type: LedgeredType) -> StreamStep {
        // What belongs to the comparison could not be told from what came before it.
        streamed = nil
        plan.diff.compared = [name]
        if let old = context.row?.comparisons[name], old.doneAt > 0, !old.isBlocked, old.mapping == type.mapping {
            plan.diff.audited = [name]
        }
        return stream.fetch(type.namespaces)
    }

    private func beginning(at start: CheckpointVector) -> CachedAnswer {
        CachedAnswer(
            from: start, to: start, whole: plan.diff.compared, session: query.session, generation: stream.generation,
            change: planner.negotiation.change, ids: context.ids)
    }

    /// The stream that a repeat of the pull can go on from, once this one is answered; nil if that is not certain.
    var cachedAnswer: CachedAnswer? {
        guard var streamed, stream.refusals.types.isEmpty else { return nil }
        streamed.end = stream.vector
        streamed.generation = stream.generation
        return streamed
    }

    /// Returns the number of failed comparisons of a type in a row, this one included.
    func failures(of type: String) -> Int { (context.row?.comparisons[type]?.failures ?? 0) + 1 }

    /// Excludes refused types from the plan.
    ///
    /// Their records are not gone because they did not come, even if the type was to be compared.
    mutating func excludeRefusedTypes() {
        plan.diff.compared.subtract(stream.refusals.types)
        plan.diff.refused = stream.refusals.types
    }

    /// True if the stream went on from the client's cursor.
    var beganAtCursor: Bool { !query.isFirst && plan.restart == nil }

    /// True if the backend's complete token is older than that of the cursor, so that its other tokens may name changes
    /// that the backend no longer has.
    ///
    /// A replica that lags behind the last one shows the same. So what was compared as a whole within the last hour is
    /// not compared again.
    var isBackendSetBack: Bool {
        guard planner.settings.keepsLedgers, let row = context.row, newerCompleteToken != nil else { return false }
        return query.ledgered.keys.contains { planner.mayCompareAgain(row.comparisons[$0]) }
    }

    /// The cursor's complete token if it is newer than the stream's; nil once everything has been streamed.
    private var newerCompleteToken: String? {
        let namespace = planner.settings.completeNamespace
        guard beganAtCursor, let before = context.row?.vector[namespace], let token = stream.vector[namespace],
            TokenAge.isOlder(token, than: before)
        else { return nil }
        return before
    }

    /// The vector of the new cursor: it keeps a newer complete token, so that a later pull sees that it was one.
    private var vector: CheckpointVector {
        guard let newer = newerCompleteToken else { return stream.vector }
        var vector = stream.vector
        vector[planner.settings.completeNamespace] = newer
        return vector
    }

    /// Returns true if the pull has brought nothing, so that it returns the presented cursor and writes nothing.
    func isIdle(_ row: CursorRow, at now: Instant) -> Bool {
        !stream.progress.carriedData && plan.restart == nil && row.replica == plan.replica
            && context.isNewestOfReplica && plan.diff.compared.isEmpty && failedComparison == nil
            && planner.negotiation.change == nil && newSchemaVersion == row.schemaVersion
            && stream.refusals.types.isEmpty && context.redeliveries.isEmpty && !context.hasDuplicates
            && row.mappingDigest == query.mappingDigest
            && now.milliseconds(since: row.cursor.time) < PullMachine.idleCursorAge && now >= row.cursor.time
    }

    /// True if the new cursor goes on from the presented one.
    var isContinuation: Bool { context.row.map { $0.replica == plan.replica } ?? false }

    /// Returns the row of the new cursor.
    func row(_ cursor: Cursor, _ report: LedgerDiffReport) -> CursorRow {
        CursorRow(
            principal: query.principal, cursor: cursor, replica: plan.replica,
            parent: isContinuation ? query.presented : nil, vector: vector, schemaVersion: newSchemaVersion,
            session: query.session, generation: stream.generation, mappingDigest: query.mappingDigest,
            noted: context.sequence, comparisons: newComparisons(report))
    }

    /// The last synced version of the new row (finding 23): the client's own version if it gets everything, otherwise the
    /// negotiated one.
    private var newSchemaVersion: Int? {
        let negotiation = planner.negotiation
        let isEverything = plan.restart != nil && (plan.diff.basis != .cursor || !plan.diff.isExact)
        guard context.row == nil || isEverything else { return negotiation.recorded }
        return negotiation.current ?? negotiation.recorded
    }

    /// Returns the time of each type's last comparison; a type that could not be judged stays due.
    private func newComparisons(_ report: LedgerDiffReport) -> [String: FullComparison] {
        guard planner.settings.keepsLedgers else { return [:] }
        let known = context.row.map { LedgeredType.known(query.ledgered, of: $0) } ?? [:]
        var comparisons: [String: FullComparison] = [:]
        for (name, type) in query.ledgered {
            comparisons[name] = comparison(of: name, type, since: known[name], report: report)
            guard known[name]?.hasDefaults == true || report.defaulted.contains(name) else { continue }
            comparisons[name, default: FullComparison(doneAt: 0, mapping: "")].hasDefaults = true
        }
        guard let failedComparison else { return comparisons }
        comparisons[failedComparison, default: FullComparison(doneAt: 0, mapping: "")].triedAt = context.now
        comparisons[failedComparison]?.failures = failures(of: failedComparison)
        return comparisons
    }

    private func comparison(
        of name: String, _ type: LedgeredType, since old: FullComparison?, report: LedgerDiffReport
    ) -> FullComparison? {
        if stream.refusals.types.contains(name) {
            // What the client has only just got of it would count as fetched: no hash of it is to be trusted.
            let affected = planner.negotiation.change?.affected ?? []
            guard !type.parts.contains(where: { affected.contains($0.table) }) else { return nil }
            // All of it comes once the backend has it again, and is compared when its time has come.
            return old.map { old in
                FullComparison(
                    doneAt: 0, triedAt: context.now, mapping: type.mapping, blockedAt: old.blockedAt,
                    failures: old.failures + 1)
            }
        }
        let isBlocked = report.blocked.contains(name)
        let isUndecided = report.suspended.contains(name) || isBlocked
        guard plan.diff.compared.contains(name) else {
            let isAwaiting = report.awaitingRedelivery.contains(name) && planner.mayCompareAgain(old)
            guard isUndecided || isAwaiting, let old, old.isTracked else { return old }
            // What is held back without a comparison is found by one, as soon as there is a place.
            return FullComparison(
                doneAt: 0, triedAt: old.failures > 0 ? old.triedAt : 0, mapping: type.mapping,
                blockedAt: old.blockedAt, failures: old.failures)
        }
        guard isUndecided else { return FullComparison(doneAt: context.now, mapping: type.mapping) }
        let doneAt = plan.restart == nil && old?.mapping == type.mapping ? old?.doneAt ?? 0 : 0
        return FullComparison(
            doneAt: doneAt, triedAt: context.now, mapping: type.mapping,
            // Leave that was given holds until everything can be judged.
            blockedAt: isBlocked ? context.now : old?.blockedAt ?? 0)
    }

    /// Returns the plan of the answer, for when the row is durable.
    func answer(_ row: CursorRow) -> PullAnswerPlan {
        var answer = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: plan.delivery, row: row, restart: plan.restart)
        answer.replaced = replaced
        return answer
    }

    /// The tables that the answer replaces on the device: all, or those without a ledger while the others get their
    /// changes.
    private var replaced: PullAnswerPlan.Replaced {
        let replacesAll = plan.delivery == .replacement
        if replacesAll, stream.refusals.types.isEmpty { return .everything }
        let replacesUnledgered =
            plan.restart != nil && plan.delivery == .incremental && query.hasUnledgered
            && planner.settings.keepsLedgers && planner.settings.unknownCursor == .replacement
        guard replacesAll || replacesUnledgered else { return .nothing }
        // Tables whose type the backend has refused must not be replaced by nothing.
        let refused = Set(query.tables(filledBy: stream.refusals.types))
        let tables = query.schema.tables(at: query.effectiveVersion).filter { replacesAll || !$0.isLedgered }
        return .tables(tables.map(\.name).filter { !refused.contains($0) })
    }
}

/// The course to which a pull goes back if the comparison of a whole type fails.
struct Rollback: Sendable {
    let type: String
    /// The course before the comparison.
    private var course: PullCourse

    init(type: String, course: PullCourse) {
        self.type = type
        self.course = course
    }

    /// Returns the course as one that has not compared anything.
    ///
    /// - Parameter newest: The principal's newest cursor, if another pull has reported it meanwhile.
    /// - Returns: The course; the backend's position is unknown in it.
    func dropped(newest: Cursor?) -> PullCourse {
        var course = course
        course.streamed = nil
        course.failedComparison = type
        course.planner.context.newest = newest
        course.stream.losePosition()
        return course
    }
}
