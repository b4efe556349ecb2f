// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Decides whether the backend is called: not for a while after it has failed several times in a row.
///
/// What one caller alone can bring about must not cut off all others. So a wait in vain, or a gateway that has no
/// answer from the backend, opens the breaker only if two callers met it; a connection that cannot be made is nobody's
/// doing.
package struct CircuitBreaker: Sendable {
    /// The settings.
    package struct Settings: Hashable, Sendable {
        /// The number of failures in a row that open the breaker; 0 switches it off.
        package var failures: Int
        /// The time for which no call is made, in milliseconds.
        package var openTime: Int64
        /// The most calls at a time by which it is tried then whether the backend answers.
        package var trials: Int

        /// Creates settings.
        package init(failures: Int, openTime: Int64, trials: Int) {
            self.failures = failures
            self.openTime = openTime
            self.trials = trials
        }
    }

    /// The states as the metrics name them.
    package enum State: String, CaseIterable, Sendable {
        /// All calls are made.
        case closed
        /// None is.
        case open
        /// A few are, as trials.
        case halfOpen = "half_open"
    }

    /// The end of a call.
    package enum Outcome: Hashable, Sendable {
        /// The backend has answered, also if it refuses.
        case answered
        /// It has answered that it failed (500 and the like): neither proof of health nor of being down.
        case failed
        /// No answer came in time, or another server said that there is none (502, 503, 504); with a number that
        /// stands for the caller.
        case unanswered(caller: Int)
        /// There was no connection.
        case unreachable
        /// The call ended for a reason that says nothing about the backend.
        case undecided
    }

    /// Stands for a call that may be made; its end is passed to ``end(_:_:at:)``.
    package struct Permit: Sendable {
        fileprivate let round: Int
    }

    /// The answer to a call that may not be made now.
    package struct Refusal: Error, Hashable, Sendable {
        /// The milliseconds after which another attempt makes sense.
        package let retryAfter: Int64
    }

    private enum Phase {
        case closed(failures: Int, caller: Int?, isConvincing: Bool)
        case open(until: Instant, since: Instant)
        case halfOpen(running: Int)
    }

    /// The settings.
    package private(set) var settings: Settings
    /// The number of times that the breaker has opened.
    package private(set) var openings = 0
    /// The number of calls that were refused.
    package private(set) var refusals = 0
    private var phase = Phase.closed(failures: 0, caller: nil, isConvincing: false)
    /// Counts the changes of state, so that calls of an earlier state decide nothing.
    private var round = 0

    /// The wait of those who come while a trial runs, in milliseconds.
    private static let trialWait: Int64 = 1_000

    /// Creates a breaker that is closed.
    package init(_ settings: Settings) { self.settings = settings }

    /// The present state.
    package var state: State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// Takes other settings, and closes: what was learnt may be about another backend.
    package mutating func configure(_ settings: Settings) {
        self.settings = settings
        enter(.closed(failures: 0, caller: nil, isConvincing: false))
    }

    /// Returns the refusal that a call would get now; nil if it may be made.
    package func refusal(at now: Instant) -> Refusal? {
        guard settings.failures > 0 else { return nil }
        switch phase {
        case .closed: return nil
        case .open(let until, let since):
            // A clock that was set back must not keep it open.
            guard now >= since, now < until else { return nil }
            return Refusal(retryAfter: until.milliseconds(since: now))
        case .halfOpen(let running): return running < settings.trials ? nil : Refusal(retryAfter: Self.trialWait)
        }
    }

    /// Returns the refusal that a call would get now, and counts it; nil if it may be made.
    package mutating func refuse(at now: Instant) -> Refusal? {
        let refusal = refusal(at: now)
        if refusal != nil { refusals += 1 }
        return refusal
    }

    /// Asks for a call.
    ///
    /// - Returns: The permit to make it.
    /// - Throws: ``Refusal`` if it must not be made now.
    package mutating func admit(at now: Instant) throws(Refusal) -> Permit {
        if let refusal = refuse(at: now) { throw refusal }
        if settings.failures > 0 {
            if case .open = phase { enter(.halfOpen(running: 0)) }
            if case .halfOpen(let running) = phase { phase = .halfOpen(running: running + 1) }
        }
        return Permit(round: round)
    }

    /// Takes the outcome of a call; a call that began before the last change of state decides nothing.
    package mutating func end(_ permit: Permit, _ outcome: Outcome, at now: Instant) {
        guard permit.round == round, settings.failures > 0 else { return }
        switch phase {
        case .closed(let failures, let caller, let isConvincing):
            close(after: outcome, failures: failures, caller: caller, isConvincing: isConvincing, at: now)
        case .halfOpen(let running):
            switch outcome {
            case .answered, .failed: enter(.closed(failures: 0, caller: nil, isConvincing: false))
            case .unanswered, .unreachable: open(at: now)
            case .undecided: phase = .halfOpen(running: running - 1)
            }
        case .open: break
        }
    }

    /// Stays closed, or opens.
    private mutating func close(
        after outcome: Outcome, failures: Int, caller: Int?, isConvincing: Bool, at now: Instant
    ) {
        switch outcome {
        case .answered: phase = .closed(failures: 0, caller: nil, isConvincing: false)
        case .failed, .undecided: break
        case .unreachable: count(failures + 1, caller, isConvincing: true, at: now)
        case .unanswered(let other):
            count(
                failures + 1, caller ?? other, isConvincing: isConvincing || caller.map { $0 != other } ?? false,
                at: now)
        }
    }

    private mutating func count(_ failures: Int, _ caller: Int?, isConvincing: Bool, at now: Instant) {
        guard isConvincing, failures >= settings.failures else {
            phase = .closed(
                failures: min(failures, settings.failures), caller: caller, isConvincing: isConvincing)
            return
        }
        open(at: now)
    }

    private mutating func open(at now: Instant) {
        openings += 1
        enter(.open(until: now + settings.openTime, since: now))
    }

    private mutating func enter(_ next: Phase) {
        phase = next
        round += 1
    }
}
