// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel

// From one state to the next.
extension PullMachine {
    mutating func compactOrPlan(_ planner: PullPlanner) -> PullAction {
        guard planner.needsCompaction else { return plan(planner) }
        state = .compacting(planner)
        return .compactLedger
    }

    /// Begins to stream, everything if there is a reason.
    mutating func plan(_ planner: PullPlanner, because reason: FullStreamReason? = nil) -> PullAction {
        do throws(PullFailure) {
            guard let reason else {
                var course = PullCourse(planner, try planner.plan())
                let step = course.begin()
                return follow(step, course, rollback: nil)
            }
            var course = PullCourse(planner, try planner.planWhole(because: reason))
            let step = course.startOver { $0.beginAfresh() }
            return follow(step, course, rollback: nil)
        } catch {
            return fail(error)
        }
    }

    mutating func follow(_ step: StreamStep, _ course: PullCourse, rollback: Rollback?) -> PullAction {
        switch step {
        case .perform(let action):
            state = rollback.map { .comparing(course, $0) } ?? .streaming(course)
            return .stream(action)
        case .ended(let end): return streamEnded(end, course, rollback: rollback)
        }
    }

    mutating func streamEnded(_ end: StreamEnd, _ course: PullCourse, rollback: Rollback?) -> PullAction {
        switch end {
        case .complete:
            guard rollback == nil, course.isBackendSetBack else { return complete(course, rollback) }
            return restart(course, because: .tokensWentBack) { $0.startOver() }
        case .broken: return rollback.map { drop($0) } ?? fail(.streamBroken)
        case .reset(let token):
            return restart(course, because: query.isFirst ? nil : .reset) { $0.serveReset(token: token) }
        case .tokensRefused:
            return restart(course, because: course.beganAtCursor ? .refusedTokens : nil) { $0.startOver() }
        case .positionMoved: return fail(.positionMoved)
        case .resetAgain: return fail(.resetAgain)
        case .tokensRefusedAgain: return fail(.tokensRefused)
        case .typesRefused: return fail(.typesRefused)
        case .unexpected(let event):
            unexpected = event
            return fail(.unexpectedEvent)
        }
    }

    /// Throws away what has come, and streams everything, by another plan if there is a reason.
    mutating func restart(
        _ course: PullCourse, because reason: FullStreamReason?, _ begin: (inout StreamMachine) -> StreamStep
    ) -> PullAction {
        var course = course
        if let reason {
            do throws(PullFailure) {
                course.plan = try course.planner.planWhole(because: reason)
                course.failedComparison = nil
            } catch {
                return fail(error)
            }
        }
        let step = course.startOver(begin)
        return follow(step, course, rollback: nil)
    }

    /// Takes the end of the stream.
    mutating func complete(_ course: PullCourse, _ rollback: Rollback?) -> PullAction {
        var course = course
        // First what is new, then everything of one type: what only the latter brings, the former should have.
        if let type = course.plan.dueType.take(), !course.stream.refusals.types.contains(type) {
            state = .askingForPermit(course, type: type)
            return .beginComparison(type: type)
        }
        // A pull that may turn out to have brought nothing asks the clock first.
        if let row = course.planner.context.row, !course.plan.diff.isSecondLook,
            course.isIdle(row, at: row.cursor.time)
        {
            state = .checkingIdle(course, row)
            return .readClock
        }
        return diff(course, rollback)
    }

    /// Ends the pull as one that has not compared anything.
    ///
    /// A type that is too large, or with which the backend fails, must not keep its device from its changes.
    mutating func drop(_ rollback: Rollback) -> PullAction {
        let course = rollback.dropped(newest: course?.planner.context.newest)
        state = .droppingComparison(course)
        return .dropComparison(type: rollback.type, failures: course.failures(of: rollback.type))
    }

    mutating func diff(_ course: PullCourse, _ rollback: Rollback?) -> PullAction {
        var course = course
        course.excludeRefusedTypes()
        state = .diffing(course, rollback)
        return .diff(course.plan.diff)
    }

    mutating func answerNothing(_ course: PullCourse, _ row: CursorRow) -> PullAction {
        state = .ended(course)
        return .answer(
            PullAnswerPlan(
                cursor: row.cursor, content: .nothing, delivery: course.plan.delivery, row: nil, restart: nil))
    }

    mutating func readClock(_ ending: PullEnding) -> PullAction {
        state = .readingClock(ending)
        return .readClock
    }

    mutating func commit(_ ending: PullEnding, at now: Instant) -> PullAction {
        guard let cursor = Cursor(time: now) else { return fail(.clockBehind) }
        let course = ending.course
        if let row = course.planner.context.row, course.isIdle(row, at: now) { return answerNothing(course, row) }
        if let newest = course.planner.context.newest, now <= newest.time {
            let lag = newest.time.milliseconds(since: now)
            var ending = ending
            ending.waits += 1
            guard lag <= Self.clockTolerance, ending.waits <= Self.clockWaits else { return fail(.clockBehind) }
            state = .waiting(ending)
            return .sleep(lag + 1)
        }
        let row = course.row(cursor, ending.report)
        guard query.awaitsIDs else { return write(row, ending) }
        state = .awaitingIDs(ending, row)
        return .awaitIDs
    }

    mutating func write(_ row: CursorRow, _ ending: PullEnding) -> PullAction {
        state = .committing(ending, row)
        return .commit(row, isNewReplica: !ending.course.isContinuation)
    }

    mutating func fail(_ failure: PullFailure) -> PullAction { end(.fail(failure)) }

    /// Ends a pull that changes nothing a client could see.
    mutating func end(_ action: PullAction) -> PullAction {
        state = .ended(nil)
        return action
    }

    mutating func unexpected(_ event: some Any) -> PullAction {
        unexpected = UnexpectedEvent(event, in: state)
        return fail(.unexpectedEvent)
    }
}

/// A pull whose lines are diffed, on the way to its cursor.
struct PullEnding: Sendable {
    var course: PullCourse
    /// The course to go back to if the comparison of a whole type fails after all.
    let rollback: Rollback?
    let report: LedgerDiffReport
    /// The number of waits for the clock, and of cursors that another pull has taken.
    var waits = 0
    var commits = 0
}
