// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Decides how the entries of the quarantine are sent again that the operator has marked.
///
/// Each entry is a push of its own, so an entry that is refused again does not stop the others. An entry whose outcome
/// is unknown stays marked for some attempts, provided that sending it again is harmless.
package struct RetryMachine: SyncMachine, Sendable {
    /// The greatest number of entries that one request applies; the principal's next request goes on with the rest.
    package static let maximumEntries = 100
    /// The longest time that retries may delay a request, in milliseconds; an entry that was begun is finished.
    package static let maximumTime: Int64 = 10_000
    /// The greatest number of attempts for an entry whose outcome stays unknown.
    package static let maximumTries = 5

    /// The entries that are still to be sent.
    struct Course: Sendable {
        var rest: ArraySlice<Entry>
        /// The time at which the first entry was begun.
        var since: Instant?
    }

    /// The step of the retries, with the data of that step.
    enum State: Sendable {
        case begun
        /// Records from the quarantine go only to a caller whom the backend accepts now.
        case verifying(Course)
        case readingClock(Course)
        case attempting(Course, Entry)
        /// Its outcome is unknown, and it is found out if push recovery can resolve it.
        case lookingUp(Course, Entry)
        /// Another attempt with an unknown outcome is counted.
        case countingTry(Course, Entry)
        /// It is noted that the backend does not have what its device holds.
        case notingRefused(Course, Entry)
        /// The entry goes back into the quarantine, unmarked.
        case quarantining(Course)
        case ended
    }

    private let query: Query
    private(set) var state = State.begun

    /// Creates retries that have not begun.
    package init(query: Query) { self.query = query }

    /// Returns the first action.
    package mutating func begin() -> Action {
        switch state {
        case .begun:
            let course = Course(rest: query.entries.filter { !$0.isPushed }[...])
            guard !course.rest.isEmpty else { return end() }
            state = .verifying(course)
            return .verifyCredential
        case .verifying, .readingClock, .attempting, .lookingUp, .countingTry, .notingRefused, .quarantining, .ended:
            return unexpected(.done)
        }
    }

    /// Takes what happened and says what to do next.
    package mutating func handle(_ event: Event) -> Action {
        switch event {
        case .done: done()
        case .clock(let now): clockRead(now)
        case .attempted(let outcome): attempted(outcome)
        case .givenUp(let isGivenUp): lookedUp(isGivenUp)
        case .tried(let tries): tried(tries)
        }
    }

    private mutating func done() -> Action {
        switch state {
        case .verifying(let course): return next(course)
        case .notingRefused(let course, let entry): return quarantineAgain(course, entry, isRefused: true)
        case .quarantining(let course): return next(course)
        case .begun, .readingClock, .attempting, .lookingUp, .countingTry, .ended: return unexpected(.done)
        }
    }

    private mutating func clockRead(_ now: Instant) -> Action {
        switch state {
        case .readingClock(var course):
            let since = course.since ?? now
            course.since = since
            guard now.milliseconds(since: since) < Self.maximumTime, let entry = course.rest.popFirst() else {
                return end()
            }
            state = .attempting(course, entry)
            return .attempt(entry.id)
        case .begun, .verifying, .attempting, .lookingUp, .countingTry, .notingRefused, .quarantining, .ended:
            return unexpected(.clock(now))
        }
    }

    private mutating func attempted(_ outcome: Outcome) -> Action {
        switch state {
        case .attempting(let course, let entry):
            switch outcome {
            case .taken: return next(course)
            case .putOff: return end()
            case .refused:
                state = .notingRefused(course, entry)
                return .noteRefused(entry.id)
            case .failed: return quarantineAgain(course, entry, isRefused: true)
            case .unknown: return outcomeUnknown(course, entry)
            }
        case .begun, .verifying, .readingClock, .lookingUp, .countingTry, .notingRefused, .quarantining, .ended:
            return unexpected(.attempted(outcome))
        }
    }

    private mutating func lookedUp(_ isGivenUp: Bool) -> Action {
        switch state {
        case .lookingUp(let course, let entry):
            return isGivenUp ? quarantineAgain(course, entry, isRefused: true) : countTry(course, entry)
        case .begun, .verifying, .readingClock, .attempting, .countingTry, .notingRefused, .quarantining, .ended:
            return unexpected(.givenUp(isGivenUp))
        }
    }

    private mutating func tried(_ tries: Int) -> Action {
        switch state {
        case .countingTry(let course, let entry):
            return tries < Self.maximumTries ? next(course) : quarantineAgain(course, entry, isRefused: false)
        case .begun, .verifying, .readingClock, .attempting, .lookingUp, .notingRefused, .quarantining, .ended:
            return unexpected(.tried(tries))
        }
    }
}

extension RetryMachine {
    private mutating func next(_ course: Course) -> Action {
        guard !course.rest.isEmpty else { return end() }
        state = .readingClock(course)
        return .readClock
    }

    /// Keeps an entry marked if sending it again is harmless.
    ///
    /// A creation that gets its id from the backend is so only if push recovery resolves the journal first, by the
    /// idempotency key.
    private mutating func outcomeUnknown(_ course: Course, _ entry: Entry) -> Action {
        guard entry.makesID else { return countTry(course, entry) }
        guard query.hasKeys else { return quarantineAgain(course, entry, isRefused: true) }
        state = .lookingUp(course, entry)
        return .lookUp(entry.id)
    }

    private mutating func countTry(_ course: Course, _ entry: Entry) -> Action {
        state = .countingTry(course, entry)
        return .countTry(entry.id)
    }

    private mutating func quarantineAgain(_ course: Course, _ entry: Entry, isRefused: Bool) -> Action {
        state = .quarantining(course)
        return .quarantineAgain(entry.id, isRefused: isRefused)
    }

    private mutating func end() -> Action {
        state = .ended
        return .stop
    }

    private mutating func unexpected(_ event: Event) -> Action {
        let unexpected = UnexpectedEvent(event, in: state)
        state = .ended
        return .fail(unexpected)
    }
}

extension RetryMachine {
    /// The retries of one request.
    package struct Query: Hashable, Sendable {
        /// The marked entries, oldest first.
        package var entries: [Entry]
        /// True if the backend recognises a repeated creation by its idempotency key.
        package var hasKeys: Bool
        /// Creates a query about these entries.
        package init(_ entries: [Entry], hasKeys: Bool) {
            self.entries = entries
            self.hasKeys = hasKeys
        }
    }

    /// A marked entry.
    package struct Entry: Hashable, Sendable {
        /// Its number in the state.
        package var id: Int64
        /// True if it creates a record that gets its id from the backend.
        package var makesID: Bool
        /// True if the client is about to push the record itself.
        package var isPushed: Bool
        /// Creates an entry.
        package init(id: Int64, makesID: Bool = false, isPushed: Bool = false) {
            self.id = id
            self.makesID = makesID
            self.isPushed = isPushed
        }
    }

    /// The next step; exactly one at a time, each answered by one ``Event``.
    package enum Action: Hashable, Sendable {
        /// Make sure that the backend accepts the caller now, and that it is still the same principal.
        case verifyCredential
        /// Read the clock; answered by `clock`.
        case readClock
        /// Push the record of this entry; answered by `attempted`.
        case attempt(Int64)
        /// Find out if the entry's record was given up by push recovery; answered by `givenUp`.
        case lookUp(Int64)
        /// Count an attempt whose outcome is unknown, durably; answered by `tried`.
        case countTry(Int64)
        /// Note that the backend does not have the entry's record as its client holds it.
        case noteRefused(Int64)
        /// Put the entry back, durably and no longer marked: it is refused, or was tried too often.
        case quarantineAgain(Int64, isRefused: Bool)
        /// The end: what is left stays marked.
        case stop
        /// The end: an event came that no action had asked for.
        case fail(UnexpectedEvent)
    }

    /// The outcome of the last ``Action``.
    package enum Event: Hashable, Sendable {
        /// It is done.
        case done
        /// The time.
        case clock(Instant)
        /// The outcome of the entry.
        case attempted(Outcome)
        /// True if push recovery has given up the record.
        case givenUp(Bool)
        /// The number of attempts with an unknown outcome.
        case tried(Int)
    }

    /// The outcome of an attempt.
    package enum Outcome: Hashable, CaseIterable, Sendable {
        /// The backend has taken the record.
        case taken
        /// The backend refuses the record, or it cannot be sent.
        case refused
        /// The push failed, and what the backend has of the record is unknown.
        case failed
        /// It may have been applied.
        case unknown
        /// The backend takes nothing at the moment.
        case putOff
    }
}
