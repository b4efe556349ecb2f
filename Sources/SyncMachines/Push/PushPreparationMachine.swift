// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides what comes before anything of a push is sent: whether it can be taken, and what its deletions take along.
///
/// What hangs on deleted records is in the ledger of the device that pushes. A pull may put that ledger together anew
/// while it is read, and then it is read again.
package struct PushPreparationMachine: SyncMachine, Sendable {
    /// One push as this machine needs to know it.
    package struct Query: Hashable, Sendable {
        /// Whether the push says what its device had seen, or need not.
        package var saysEnough: Bool
        /// The index of the first operation with an id that no backend can hold, if it fails the whole push.
        package var unfitID: Int?
        /// What its deletions have to do with other records.
        package var deletions: Deletions

        /// A push.
        package init(saysEnough: Bool = true, unfitID: Int? = nil, deletions: Deletions = .alone) {
            self.saysEnough = saysEnough
            self.unfitID = unfitID
            self.deletions = deletions
        }
    }

    /// What deletions have to do with other records.
    package enum Deletions: CaseIterable, Sendable {
        /// Nothing, or nobody can tell.
        case alone
        /// They refer to each other, so that their order counts.
        case ordered
        /// The gateway deletes what hangs on them (`cascade = gateway`).
        case cascading
    }

    /// What is to be done next.
    package enum Action: Hashable, Sendable {
        /// Look up what of the principal's is set aside.
        case loadSetAside
        /// Look up the ledger of the presented cursor; answered by `ledger`.
        case loadLedger
        /// Find what goes with the deletions in the ledger; answered by `found`, `damaged` or `tooMany`.
        case findDescendants
        /// Find out whether the ledger is still the one that was read; answered by `current`.
        case checkLedger
        /// Make sure that the backend accepts the credential: strangers are told nothing of ledgers.
        case verifyCredential
        /// The end: what was found goes with the push.
        case follow
        /// The end: the push goes on as it came. What hangs on its deletions `isUnknown`, and may not be deleted.
        case goOn(isUnknown: Bool)
        /// The end: it cannot be taken.
        case fail(PushObstacle)
    }

    /// What happened.
    package enum Event: Hashable, Sendable {
        /// It worked and there is nothing to tell.
        case done
        /// Whether there is a ledger that has exactly what the device has.
        case ledger(Bool)
        /// What goes with the deletions is known.
        case found
        /// The ledger cannot be read.
        case damaged
        /// More goes with them than one push may delete.
        case tooMany
        /// Whether the ledger is still the one that was read.
        case current(Bool)
    }

    private enum State: Sendable {
        case begun
        case loadingSetAside
        case loadingLedger(attempt: Int)
        case finding(attempt: Int)
        case checking(attempt: Int, isFound: Bool)
        case verifying(PushObstacle)
        case ended
    }

    /// How often the ledger is read at the most.
    package static let attempts = 3

    private let query: Query
    private var state = State.begun
    /// What came where nothing of its kind was asked for; the push fails then (`internal.unexpected_event`).
    package private(set) var unexpected: UnexpectedEvent?

    /// A push that has just come.
    package init(query: Query) { self.query = query }

    /// The first action.
    package mutating func begin() -> Action {
        guard query.saysEnough else { return fail(.withoutTime) }
        if let place = query.unfitID { return fail(.unfitID(place: place)) }
        state = .loadingSetAside
        return .loadSetAside
    }

    /// Takes what happened and says what to do next, whatever it is.
    package mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (.loadingSetAside, .done):
            return query.deletions == .alone ? end(.goOn(isUnknown: false)) : loadLedger(attempt: 1)
        case (.loadingLedger(let attempt), .ledger(let isExact)):
            guard isExact else { return end(.goOn(isUnknown: query.deletions == .cascading)) }
            state = .finding(attempt: attempt)
            return .findDescendants
        case (.finding(let attempt), .found): return check(attempt, isFound: true)
        case (.finding(let attempt), .damaged): return check(attempt, isFound: false)
        case (.finding, .tooMany): return verify(.tooManyDescendants)
        case (.checking(let attempt, let isFound), .current(let isCurrent)):
            guard isCurrent else {
                return attempt < Self.attempts ? loadLedger(attempt: attempt + 1) : fail(.ledgerChanged)
            }
            // Of a damaged ledger the next pull makes another one, and gets everything.
            return isFound ? end(.follow) : verify(.outdated)
        case (.verifying(let obstacle), .done): return fail(obstacle)
        case (.begun, _), (.loadingSetAside, _), (.loadingLedger, _), (.finding, _), (.checking, _), (.verifying, _),
            (.ended, _):
            unexpected = unexpected ?? UnexpectedEvent(event, in: state)
            return fail(.unexpectedEvent)
        }
    }

    private mutating func loadLedger(attempt: Int) -> Action {
        state = .loadingLedger(attempt: attempt)
        return .loadLedger
    }

    private mutating func check(_ attempt: Int, isFound: Bool) -> Action {
        state = .checking(attempt: attempt, isFound: isFound)
        return .checkLedger
    }

    private mutating func verify(_ obstacle: PushObstacle) -> Action {
        state = .verifying(obstacle)
        return .verifyCredential
    }

    private mutating func fail(_ obstacle: PushObstacle) -> Action { end(.fail(obstacle)) }

    private mutating func end(_ action: Action) -> Action {
        state = .ended
        return action
    }
}

/// Why a push is refused before anything of it is sent.
package enum PushObstacle: Hashable, Sendable {
    /// It does not say what its device had seen (`[push] without_cursor = refuse`).
    case withoutTime
    /// An operation has an id that no backend can hold.
    case unfitID(place: Int)
    /// More hangs on what it deletes than one push may delete.
    case tooManyDescendants
    /// Its device has to get everything anew first.
    case outdated
    /// Pulls have changed the ledger of its device again and again.
    case ledgerChanged
    /// Something happened that nothing had been asked for.
    case unexpectedEvent
}
