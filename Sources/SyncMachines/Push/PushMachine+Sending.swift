// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// From the receipt to the last operation.
extension PushMachine {
    /// The most repetitions of a stream push without refused operations: some backends name one line at a time.
    package static let maximumRounds = 256
    /// The longest time for these repetitions, in milliseconds: the principal's other devices cannot push meanwhile.
    package static let maximumRoundTime: Int64 = 60_000

    mutating func lookForReceipt(_ course: PushCourse) -> PushAction {
        guard query.statesTime else { return apply(course) }
        state = .findingReceipt(course)
        return .findReceipt
    }

    mutating func check(_ course: PushCourse) -> PushAction {
        guard query.checks, query.operations > 0 else { return apply(course) }
        state = .checking(course)
        return .checkConflicts
    }

    mutating func apply(_ course: PushCourse) -> PushAction {
        guard query.operations > 0 else {
            state = .verifying(course)
            return .verifyCredential
        }
        switch course.sending {
        case .stream:
            guard query.notes else { return send(course) }
            state = .notingSeen(course)
            return .noteSeen
        case .calls(var calls):
            var course = course
            calls.begin()
            course.sending = .calls(calls)
            state = .notingSeen(course)
            return .beginJournal
        }
    }

    /// Sends everything, or what of the calls is next: that these are about to be sent is written down before.
    mutating func send(_ course: PushCourse) -> PushAction {
        switch course.sending {
        case .stream(let stream):
            state = .sending(course)
            let batch = query.batch > 0 ? stream.batch(query) : nil
            return .sendAll(base: course.row?.vector, without: rejected, batch: batch)
        case .calls(let calls):
            return advance(course, calls, pause: nil)
        }
    }

    /// Writes down what was applied and what comes next, where that is not known yet, and goes on after the pause.
    private mutating func advance(_ course: PushCourse, _ calls: CallBatches, pause: Int64?) -> PushAction {
        var (course, calls) = (course, calls)
        let step = calls.write()
        course.sending = .calls(calls)
        if let (outcomes, inFlight) = step {
            state = .advancing(course, pause: pause)
            return .advance(applied: outcomes.applied, rejected: outcomes.rejected.sorted(), inFlight: inFlight)
        }
        if let pause {
            state = .pausing(course)
            return .sleep(pause)
        }
        guard !calls.callBatch.isEmpty else { return end(course, query.success) }
        state = .sending(course)
        return .send(calls.callBatch)
    }

    mutating func batchApplied(_ course: PushCourse, _ stream: StreamSending) -> PushAction {
        var (course, stream) = (course, stream)
        outcome.taken.formUnion(Set(stream.batch(query)).subtracting(rejected))
        stream.advance(query)
        course.patience.relax()
        course.sending = .stream(stream)
        return stream.next >= query.operations ? end(course, query.success) : send(course)
    }

    /// Takes the results of a batch of calls: applied operations count even if others failed.
    mutating func callBatchEnded(
        _ course: PushCourse, _ calls: CallBatches, results: [Int: CallResult]
    ) -> PushAction {
        var (course, calls) = (course, calls)
        let ended = calls.end(results)
        course.sending = .calls(calls)
        outcome.taken.formUnion(ended.applied)
        if !ended.applied.isEmpty { course.patience.relax() }
        // A refusal tells the client more than that something else is uncertain.
        for refusal in ended.refusals where query.ends(with: refusal) {
            return end(course, .refuse(refusal, applied: applied))
        }
        if ended.hasFailed { return end(course, .rethrow(applied: applied)) }
        if ended.isUncertain { return end(course, .fail(.unknownOutcome, applied: applied)) }
        guard let first = ended.refusals.first else { return nextCallBatch(course, calls) }
        let refusal = PushRefusal(kind: first.kind, records: ended.refusals.flatMap(\.records))
        return query.quarantines ? findRoom(course, refusal) : goOn(course, without: refusal)
    }

    /// Goes on with what was put off, after a pause, and with what comes next.
    private mutating func nextCallBatch(_ course: PushCourse, _ calls: CallBatches) -> PushAction {
        var (course, calls) = (course, calls)
        // What ends here has to write what was just rejected, too.
        course.sending = .calls(calls)
        var pause: Int64?
        if let delay = calls.delay {
            pause = course.patience.pause(delay.after, query)
            let failure: PushFailure = calls.unknown.isEmpty ? .busy : .unknownOutcome
            guard pause != nil else { return end(course, .fail(failure, applied: applied)) }
        }
        calls.gather()
        return advance(course, calls, pause: pause)
    }

    /// Stops, or goes on without what the backend will never take.
    mutating func streamRefused(_ course: PushCourse, _ refusal: PushRefusal) -> PushAction {
        guard !query.ends(with: refusal) else { return end(course, .refuse(refusal, applied: applied)) }
        return query.quarantines ? findRoom(course, refusal) : goOn(course, without: refusal)
    }

    private mutating func findRoom(_ course: PushCourse, _ refusal: PushRefusal) -> PushAction {
        state = .findingRoom(course, refusal)
        return .findRoom(rejected.union(refusal.records.map(\.index)))
    }

    mutating func goOn(_ course: PushCourse, without refusal: PushRefusal) -> PushAction {
        let news = Set(refusal.records.map(\.index)).subtracting(rejected)
        outcome.rejected.formUnion(news)
        switch course.sending {
        case .calls(var calls):
            calls.reject(Array(news))
            return nextCallBatch(course, calls)
        case .stream(var stream):
            // One that names nothing new would be asked for ever.
            guard !news.isEmpty else { return end(course, .refuse(refusal, applied: applied)) }
            stream.attempt = 0
            guard !rejected.isSuperset(of: stream.batch(query)) else { return batchApplied(course, stream) }
            stream.rounds += 1
            var course = course
            course.sending = .stream(stream)
            guard stream.rounds <= Self.maximumRounds else {
                return end(course, .fail(.tooManyRefusals, applied: applied))
            }
            state = .readingClock(course)
            return .readClock
        }
    }

    /// Sends the rest, unless this goes on for too long already.
    mutating func sendAgain(_ course: PushCourse, at now: Instant) -> PushAction {
        guard case .stream(var stream) = course.sending else { return send(course) }
        let since = stream.firstRound ?? now
        stream.firstRound = since
        var course = course
        course.sending = .stream(stream)
        guard now.milliseconds(since: since) <= Self.maximumRoundTime else {
            return end(course, .fail(.tooManyRefusals, applied: applied))
        }
        return send(course)
    }
}
