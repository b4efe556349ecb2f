// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel

/// Decides every step of a pull and does none of them: actions out, events in.
///
/// The gateway runs one action, reports what happened, and gets the next, until `answer` or `fail`. An action that
/// throws ends the pull; nothing that the machine has asked for until then is visible to a client. The order is:
/// confirm, stream, diff, maybe stream and diff once more, commit, answer. What the stream takes is a
/// ``StreamMachine``'s; what the pull is about, a ``PullPlanner``'s.
package struct PullMachine: SyncMachine, Sendable {
    /// The most by which the clock may be behind the newest cursor so that the answer still waits for it, in
    /// milliseconds.
    package static let clockTolerance: Int64 = 2_000
    /// The greatest age of a cursor while nothing changes, in milliseconds: then the backend's completion token is
    /// renewed.
    package static let idleCursorAge: Int64 = 24 * 3_600 * 1_000
    /// The number of times that a pull starts over because ids became known, before it fails.
    package static let maximumStartOvers = 2
    static let commitAttempts = 10
    static let clockWaits = 10

    /// The step of the pull, with the data of that step.
    ///
    /// The enum is indirect, because a course is large and a state is copied with every event.
    indirect enum State: Sendable {
        case loading
        /// The presented cursor is confirmed.
        case confirming(PullPlanner)
        case compacting(PullPlanner)
        case streaming(PullCourse)
        /// A permit to compare a whole request type is awaited.
        case askingForPermit(PullCourse, type: String)
        /// A whole request type is streamed behind everything else.
        case comparing(PullCourse, Rollback)
        case droppingComparison(PullCourse)
        /// The clock is read before the diff, because perhaps nothing has changed.
        case checkingIdle(PullCourse, CursorRow)
        case diffing(PullCourse, Rollback?)
        case readingClock(PullEnding)
        /// The clock is behind the newest cursor.
        case waiting(PullEnding)
        /// The ids that the backend gives to pushed records are awaited, since the answer may hold such records.
        case awaitingIDs(PullEnding, CursorRow)
        case committing(PullEnding, CursorRow)
        case ended(PullCourse?)
    }

    let query: PullQuery
    private let settings: PullSettings
    var state = State.loading
    /// The event that could not be, and in which state it came, for the log.
    package internal(set) var unexpected: UnexpectedEvent?

    /// Creates a pull that has not begun.
    package init(query: PullQuery, settings: PullSettings) {
        self.query = query
        self.settings = settings
    }

    /// Returns the first action.
    package mutating func begin() -> PullAction { .loadContext }

    /// Takes what happened and says what to do next.
    ///
    /// An event that cannot be in this state ends the pull with ``PullFailure/unexpectedEvent``: what a backend or the
    /// state answers must never end the process.
    package mutating func handle(_ event: PullEvent) -> PullAction {
        switch event {
        case .done: done()
        case .context(let context): contextLoaded(context)
        case .stream(let event): streamed(event)
        case .comparisonGranted(let isGranted): comparisonGranted(isGranted)
        case .comparisonFailed: comparisonFailed()
        case .ledgerDamaged: ledgerDamaged()
        case .diffed(let report): diffed(report)
        case .clock(let now): clockRead(now)
        case .cursorTaken(let newest): cursorTaken(newest)
        case .idsChanged: idsChanged()
        case .idsUnknown: idsUnknown()
        }
    }

    private mutating func done() -> PullAction {
        switch state {
        case .confirming(let planner): return compactOrPlan(planner)
        case .compacting(let planner): return plan(planner)
        case .droppingComparison(let course): return complete(course, nil)
        case .waiting(let ending): return readClock(ending)
        case .awaitingIDs(let ending, let row): return write(row, ending)
        case .committing(let ending, let row):
            state = .ended(ending.course)
            return .answer(ending.course.answer(row))
        case .loading, .streaming, .askingForPermit, .comparing, .checkingIdle, .diffing, .readingClock, .ended:
            return unexpected(PullEvent.done)
        }
    }

    private mutating func contextLoaded(_ context: PullContext) -> PullAction {
        switch state {
        case .loading:
            guard !context.isHeldUpByPushes else { return end(.finishPushes) }
            var planner = PullPlanner(query: query, settings: settings, context: context)
            planner.negotiate()
            if case .refuse(let refusal) = planner.negotiation.outcome { return end(.refuse(refusal)) }
            guard let cursor = planner.unconfirmed else { return compactOrPlan(planner) }
            state = .confirming(planner)
            return .confirm(cursor)
        case .confirming, .compacting, .streaming, .askingForPermit, .comparing, .droppingComparison, .checkingIdle,
            .diffing, .readingClock, .waiting, .awaitingIDs, .committing, .ended:
            return unexpected(PullEvent.context(context))
        }
    }

    private mutating func streamed(_ event: StreamEvent) -> PullAction {
        switch state {
        case .streaming(var course):
            let step = course.stream.handle(event)
            return follow(step, course, rollback: nil)
        case .comparing(var course, let rollback):
            switch event {
            case .tokensRefused, .typesRefused: return drop(rollback)
            case .done, .listed, .namespacesRefused, .generationRaised, .ended: break
            }
            let step = course.stream.handle(event)
            return follow(step, course, rollback: rollback)
        case .loading, .confirming, .compacting, .askingForPermit, .droppingComparison, .checkingIdle, .diffing,
            .readingClock, .waiting, .awaitingIDs, .committing, .ended:
            return unexpected(event)
        }
    }

    private mutating func comparisonGranted(_ isGranted: Bool) -> PullAction {
        switch state {
        case .askingForPermit(var course, let name):
            guard isGranted, let type = query.ledgered[name] else { return complete(course, nil) }
            let rollback = Rollback(type: name, course: course)
            let step = course.compare(name, type)
            return follow(step, course, rollback: rollback)
        case .loading, .confirming, .compacting, .streaming, .comparing, .droppingComparison, .checkingIdle, .diffing,
            .readingClock, .waiting, .awaitingIDs, .committing, .ended:
            return unexpected(PullEvent.comparisonGranted(isGranted))
        }
    }

    private mutating func comparisonFailed() -> PullAction {
        guard let rollback else { return unexpected(PullEvent.comparisonFailed) }
        return drop(rollback)
    }

    /// Goes on without what cannot be read: the client gets everything and a new replica, since no other pull could
    /// ever mend the old one, and no device stays stuck.
    private mutating func ledgerDamaged() -> PullAction {
        switch state {
        case .compacting(var planner):
            planner.context.ledger.isExact = false
            return plan(planner, because: .damagedLedger)
        case .diffing(var course, let rollback):
            // Everything came already, and nothing of the ledger was to be trusted.
            let diff = course.plan.diff
            if !diff.isExact, diff.output == .whole { return self.diff(course, rollback) }
            course.planner.context.ledger.isExact = false
            return restart(course, because: .damagedLedger) { $0.beginAfresh() }
        case .loading, .confirming, .streaming, .askingForPermit, .comparing, .droppingComparison, .checkingIdle,
            .readingClock, .waiting, .awaitingIDs, .committing, .ended:
            return unexpected(PullEvent.ledgerDamaged)
        }
    }

    /// Looks once more, from where the stream has got to, before anything is deleted because it did not come
    /// (finding 12).
    private mutating func diffed(_ report: LedgerDiffReport) -> PullAction {
        switch state {
        case .diffing(var course, let rollback):
            guard report.needsSecondLook, !course.plan.diff.isSecondLook else {
                return readClock(PullEnding(course: course, rollback: rollback, report: report))
            }
            course.plan.diff.isSecondLook = true
            let step = course.stream.goOn()
            return follow(step, course, rollback: rollback)
        case .loading, .confirming, .compacting, .streaming, .askingForPermit, .comparing, .droppingComparison,
            .checkingIdle, .readingClock, .waiting, .awaitingIDs, .committing, .ended:
            return unexpected(PullEvent.diffed(report))
        }
    }

    private mutating func clockRead(_ now: Instant) -> PullAction {
        switch state {
        case .checkingIdle(let course, let row):
            guard Cursor(time: now) != nil else { return fail(.clockBehind) }
            return course.isIdle(row, at: now) ? answerNothing(course, row) : diff(course, nil)
        case .readingClock(let ending): return commit(ending, at: now)
        case .loading, .confirming, .compacting, .streaming, .askingForPermit, .comparing, .droppingComparison,
            .diffing, .waiting, .awaitingIDs, .committing, .ended:
            return unexpected(PullEvent.clock(now))
        }
    }

    private mutating func cursorTaken(_ newest: Cursor) -> PullAction {
        switch state {
        case .committing(var ending, _):
            ending.commits += 1
            guard ending.commits < Self.commitAttempts else { return fail(.cursorContention) }
            ending.course.planner.context.newest = newest
            return readClock(ending)
        case .loading, .confirming, .compacting, .streaming, .askingForPermit, .comparing, .droppingComparison,
            .checkingIdle, .diffing, .readingClock, .waiting, .awaitingIDs, .ended:
            return unexpected(PullEvent.cursorTaken(newest: newest))
        }
    }

    /// Starts over, since the stream may have brought a record before the line with its id.
    private mutating func idsChanged() -> PullAction {
        switch state {
        case .awaitingIDs(let ending, _), .committing(let ending, _):
            guard query.startOvers < Self.maximumStartOvers else { return fail(.idsChanged) }
            state = .ended(ending.course)
            return .startOver
        case .loading, .confirming, .compacting, .streaming, .askingForPermit, .comparing, .droppingComparison,
            .checkingIdle, .diffing, .readingClock, .waiting, .ended:
            return unexpected(PullEvent.idsChanged)
        }
    }

    /// Fails, since to start over would mean the same wait again.
    private mutating func idsUnknown() -> PullAction {
        switch state {
        case .awaitingIDs: return fail(.idsUnknown)
        case .loading, .confirming, .compacting, .streaming, .askingForPermit, .comparing, .droppingComparison,
            .checkingIdle, .diffing, .readingClock, .waiting, .committing, .ended:
            return unexpected(PullEvent.idsUnknown)
        }
    }
}

// What others may know of it.
extension PullMachine {
    /// True if a whole type is being compared: a failure need not fail the pull (``PullEvent/comparisonFailed``).
    package var isComparing: Bool { rollback != nil }

    /// The negotiator's decision about the client's schema version, once the context is known.
    package var negotiation: SchemaNegotiator.Decision {
        course?.planner.negotiation ?? SchemaNegotiator.Decision(outcome: .nothing)
    }

    /// The reading of a refusal of the stream request.
    package var refusalReading: RefusalReading { isComparing ? .failure : course?.stream.refusals.reading ?? .byNames }

    /// The request types that the backend does not take any more.
    package var refusedTypes: Set<String> { course?.stream.refusals.types ?? [] }

    /// The stream that a repeat of the pull can go on from, once this one is answered; nil if that is not certain.
    package var cachedAnswer: CachedAnswer? { course?.cachedAnswer }

    private var rollback: Rollback? {
        switch state {
        case .comparing(_, let rollback): rollback
        case .diffing(_, let rollback): rollback
        case .readingClock(let ending), .waiting(let ending), .awaitingIDs(let ending, _), .committing(let ending, _):
            ending.rollback
        case .loading, .confirming, .compacting, .streaming, .askingForPermit, .droppingComparison, .checkingIdle,
            .ended:
            nil
        }
    }

    var course: PullCourse? {
        switch state {
        case .streaming(let course), .askingForPermit(let course, _), .comparing(let course, _),
            .droppingComparison(let course), .checkingIdle(let course, _), .diffing(let course, _):
            course
        case .readingClock(let ending), .waiting(let ending), .awaitingIDs(let ending, _), .committing(let ending, _):
            ending.course
        case .ended(let course): course
        case .loading, .confirming, .compacting: nil
        }
    }
}
