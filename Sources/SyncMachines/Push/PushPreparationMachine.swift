// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides the steps before anything of a push is sent: if it can be taken, and which descendants its deletions add.
///
/// The descendants of deleted records are in the ledger of the device that pushes. A pull may compact that ledger
/// while it is read; then it is read again.
package struct PushPreparationMachine: SyncMachine, Sendable {
    /// One push as this machine needs to know it.
    package struct Query: Hashable, Sendable {
        /// True if the push carries its device's cursor, or need not.
        package var saysEnough: Bool
        /// The index of the first operation with an id that no backend can hold, if it fails the whole push.
        package var unfitID: Int?
        /// The relation of its deletions to other records.
        package var deletions: Deletions

        /// Creates a query about a push.
        package init(saysEnough: Bool = true, unfitID: Int? = nil, deletions: Deletions = .alone) {
            self.saysEnough = saysEnough
            self.unfitID = unfitID
            self.deletions = deletions
        }
    }

    /// The relation of deletions to other records.
    package enum Deletions: CaseIterable, Sendable {
        /// None, or unknown.
        case alone
        /// They refer to each other, so that their order counts.
        case ordered
        /// The gateway deletes their descendants (`cascade = gateway`).
        case cascading
    }

    /// The next step.
    package enum Action: Hashable, Sendable {
        /// Look up the principal's quarantined records.
        case loadQuarantine
        /// Look up the ledger of the presented cursor; answered by `ledger`.
        case loadLedger
        /// Find the descendants of the deletions in the ledger; answered by `found`, `damaged` or `tooMany`.
        case findDescendants
        /// Find out if the ledger is still the one that was read; answered by `current`.
        case checkLedger
        /// Make sure that the backend accepts the credential: strangers learn nothing about ledgers.
        case verifyCredential
        /// The end: the found descendants are added to the push.
        case follow
        /// The end: the push goes on as it came; if `isUnknown`, the descendants of its deletions are unknown and stay.
        case goOn(isUnknown: Bool)
        /// The end: it cannot be taken.
        case fail(PreparationFailure)
    }

    /// The outcome of the last action.
    package enum Event: Hashable, Sendable {
        /// It succeeded, without a result.
        case done
        /// True if there is a ledger that is exactly what the device has.
        case ledger(Bool)
        /// The descendants of the deletions are known.
        case found
        /// The ledger cannot be read.
        case damaged
        /// There are more descendants than one push may delete.
        case tooMany
        /// True if the ledger is still the one that was read.
        case current(Bool)
    }

    private enum State: Sendable {
        case begun
        case loadingQuarantine
        case loadingLedger(attempt: Int)
        case finding(attempt: Int)
        case checking(attempt: Int, isFound: Bool)
        case verifying(PreparationFailure)
        case ended
    }

    /// The most attempts to read the ledger.
    package static let attempts = 3

    private let query: Query
    private var state = State.begun
    /// The event that no action had asked for; the push fails then (`internal.unexpected_event`).
    package private(set) var unexpected: UnexpectedEvent?

    /// Creates a push that has not begun.
    package init(query: Query) { self.query = query }

    /// Returns the first action.
    package mutating func begin() -> Action {
        guard query.saysEnough else { return fail(.withoutTime) }
        if let index = query.unfitID { return fail(.unfitID(index: index)) }
        state = .loadingQuarantine
        return .loadQuarantine
    }

    /// Takes any event and returns the next action.
    package mutating func handle(_ event: Event) -> Action {
        switch event {
        case .done: done()
        case .ledger(let isExact): ledgerLoaded(isExact)
        case .found: descendantsFound()
        case .damaged: ledgerDamaged()
        case .tooMany: tooManyDescendants()
        case .current(let isCurrent): ledgerChecked(isCurrent)
        }
    }

    private mutating func done() -> Action {
        switch state {
        case .loadingQuarantine:
            return query.deletions == .alone ? end(.goOn(isUnknown: false)) : loadLedger(attempt: 1)
        case .verifying(let obstacle): return fail(obstacle)
        case .begun, .loadingLedger, .finding, .checking, .ended: return unexpected(.done)
        }
    }

    private mutating func ledgerLoaded(_ isExact: Bool) -> Action {
        switch state {
        case .loadingLedger(let attempt):
            guard isExact else { return end(.goOn(isUnknown: query.deletions == .cascading)) }
            state = .finding(attempt: attempt)
            return .findDescendants
        case .begun, .loadingQuarantine, .finding, .checking, .verifying, .ended: return unexpected(.ledger(isExact))
        }
    }

    private mutating func descendantsFound() -> Action {
        switch state {
        case .finding(let attempt): return check(attempt, isFound: true)
        case .begun, .loadingQuarantine, .loadingLedger, .checking, .verifying, .ended: return unexpected(.found)
        }
    }

    private mutating func ledgerDamaged() -> Action {
        switch state {
        case .finding(let attempt): return check(attempt, isFound: false)
        case .begun, .loadingQuarantine, .loadingLedger, .checking, .verifying, .ended: return unexpected(.damaged)
        }
    }

    private mutating func tooManyDescendants() -> Action {
        switch state {
        case .finding: return verify(.tooManyDescendants)
        case .begun, .loadingQuarantine, .loadingLedger, .checking, .verifying, .ended: return unexpected(.tooMany)
        }
    }

    private mutating func ledgerChecked(_ isCurrent: Bool) -> Action {
        switch state {
        case .checking(let attempt, let isFound):
            guard isCurrent else {
                return attempt < Self.attempts ? loadLedger(attempt: attempt + 1) : fail(.ledgerChanged)
            }
            // Of a damaged ledger the next pull makes another one, and gets everything.
            return isFound ? end(.follow) : verify(.outdated)
        case .begun, .loadingQuarantine, .loadingLedger, .finding, .verifying, .ended:
            return unexpected(.current(isCurrent))
        }
    }

    private mutating func unexpected(_ event: Event) -> Action {
        unexpected = unexpected ?? UnexpectedEvent(event, in: state)
        return fail(.unexpectedEvent)
    }

    private mutating func loadLedger(attempt: Int) -> Action {
        state = .loadingLedger(attempt: attempt)
        return .loadLedger
    }

    private mutating func check(_ attempt: Int, isFound: Bool) -> Action {
        state = .checking(attempt: attempt, isFound: isFound)
        return .checkLedger
    }

    private mutating func verify(_ obstacle: PreparationFailure) -> Action {
        state = .verifying(obstacle)
        return .verifyCredential
    }

    private mutating func fail(_ obstacle: PreparationFailure) -> Action { end(.fail(obstacle)) }

    private mutating func end(_ action: Action) -> Action {
        state = .ended
        return action
    }
}

/// The reason why a push is refused before anything of it is sent.
package enum PreparationFailure: Hashable, Sendable {
    /// It does not say what its device had seen (`[push] without_cursor = refuse`).
    case withoutTime
    /// An operation has an id that no backend can hold.
    case unfitID(index: Int)
    /// Its deletions have more descendants than one push may delete.
    case tooManyDescendants
    /// Its device has to get everything anew first.
    case outdated
    /// Pulls have changed the ledger of its device again and again.
    case ledgerChanged
    /// An event came that no action had asked for.
    case unexpectedEvent
}
