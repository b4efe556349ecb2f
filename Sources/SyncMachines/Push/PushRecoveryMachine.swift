// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides how an interrupted push is resolved: what is requested, and what follows from it (findings 19 and 20).
///
/// Nothing of the push goes on: the client comes with all of it again. Only creations are looked at whose record may
/// have got an id from the backend; everything else is idempotent when the client sends it once more.
package struct PushRecoveryMachine: SyncMachine, Sendable {
    /// The number of attempts, and the time in milliseconds, after which a creation is given up that the backend tells
    /// nothing about although it answers other requests: no device may be stuck for ever.
    package static let (tries, patience) = (3, Int64(300_000))

    /// The knowledge so far, and the creations that are still to be found out about.
    struct Progress: Sendable {
        /// The requests that are still to be repeated.
        var repetitions: ArraySlice<Repetition> = []
        /// The creations that are still to be searched for.
        var searched: [Int] = []
        /// The ids that were found.
        var found: [Int: String] = [:]
        /// The creations whose outcome stays unknown.
        var lost: [Int] = []
    }

    /// A request that is repeated.
    struct Repetition: Sendable {
        let index: Int
        /// True if the stream may tell what the answer does not.
        let canSearch: Bool
    }

    /// The result of a search.
    struct Searched: Sendable {
        let found: [Int: String]
        /// The creations that were not found because the backend refuses their request types.
        let refused: [Int]
    }

    /// The step of the closing, with the data of that step.
    enum State: Sendable {
        case begun(Progress)
        /// A request is repeated.
        case repeating(Progress, Repetition)
        /// The request got no answer, and the backend is asked for something else.
        case askingBackend(Progress, Repetition)
        /// Another failed attempt for the request is counted.
        case countingTry(Progress, Repetition)
        /// It is noted that the request is not repeated again.
        case givingUp(Progress, Repetition)
        /// The stream is read from the push's cursor on, or from its beginning.
        case searching(Progress, fromCursor: Bool)
        /// Failed attempts for creations are counted whose request types the backend refuses, the first of `rest` now.
        case countingSearch(Progress, Searched, rest: ArraySlice<Int>)
        /// It is noted that these creations are not searched for again.
        case givingUpSearched(Progress, Searched)
        case ended(Progress)
    }

    private let hasCursor: Bool
    private(set) var state: State

    /// Creates a recovery of an interrupted push.
    package init(_ query: Query) {
        hasCursor = query.interrupted != nil
        var progress = Progress()
        for creation in query.creations {
            switch query.means(of: creation) {
            case .repetition(let canSearch):
                progress.repetitions.append(Repetition(index: creation.index, canSearch: canSearch))
            case .search: progress.searched.append(creation.index)
            case .none: progress.lost.append(creation.index)
            }
        }
        state = .begun(progress)
    }

    /// The ids that were found so far; they are worth keeping even if the rest cannot be found at present.
    package var found: [Int: String] {
        switch state {
        case .begun(let progress), .repeating(let progress, _), .askingBackend(let progress, _),
            .countingTry(let progress, _), .givingUp(let progress, _), .searching(let progress, fromCursor: _),
            .countingSearch(let progress, _, rest: _), .givingUpSearched(let progress, _), .ended(let progress):
            progress.found
        }
    }

    /// Returns the first action.
    package mutating func begin() -> PushRecoveryAction {
        switch state {
        case .begun(let progress): return next(progress)
        case .repeating, .askingBackend, .countingTry, .givingUp, .searching, .countingSearch, .givingUpSearched,
            .ended:
            return unexpected(.done)
        }
    }

    /// Takes what happened and says what to do next.
    package mutating func handle(_ event: PushRecoveryEvent) -> PushRecoveryAction {
        switch event {
        case .done: done()
        case .answered(let answer): answered(answer)
        case .backendAnswers(let answers): backendAsked(answers)
        case .tried(let tries, let time): tried(tries, over: time)
        case .givenUpBefore: givenUpBefore()
        case .found(let ids, let refused): searched(ids, refused: refused)
        case .outOfReach: outOfReach()
        }
    }

    private mutating func done() -> PushRecoveryAction {
        switch state {
        case .givingUp(let progress, let repetition): return unanswerable(progress, repetition)
        case .givingUpSearched(let progress, let searched): return take(searched, progress)
        case .begun, .repeating, .askingBackend, .countingTry, .searching, .countingSearch, .ended:
            return unexpected(.done)
        }
    }

    private mutating func answered(_ answer: PushRecoveryAnswer) -> PushRecoveryAction {
        switch state {
        case .repeating(var progress, let repetition):
            switch answer.verdict {
            case .created(let id):
                progress.found[repetition.index] = id
                return next(progress)
            case .refused: return next(progress)
            case .unanswerable: return unanswerable(progress, repetition)
            case .later:
                state = .askingBackend(progress, repetition)
                return .askBackend
            case .failedHere: return fail(.failedHere, progress)
            }
        case .begun, .askingBackend, .countingTry, .givingUp, .searching, .countingSearch, .givingUpSearched, .ended:
            return unexpected(.answered(answer))
        }
    }

    /// Counts an attempt, unless the backend answers nothing at all: then no sync would go on anyway.
    private mutating func backendAsked(_ answers: Bool) -> PushRecoveryAction {
        switch state {
        case .askingBackend(let progress, let repetition):
            guard answers else { return fail(.unanswered, progress) }
            state = .countingTry(progress, repetition)
            return .countTry(repetition.index)
        case .begun, .repeating, .countingTry, .givingUp, .searching, .countingSearch, .givingUpSearched, .ended:
            return unexpected(.backendAnswers(answers))
        }
    }

    private mutating func tried(_ tries: Int, over time: Int64) -> PushRecoveryAction {
        let isEnough = tries >= Self.tries && time >= Self.patience
        switch state {
        case .countingTry(let progress, let repetition):
            return isEnough ? giveUp(progress, repetition) : fail(.unanswered, progress)
        case .countingSearch(let progress, let searched, let rest):
            return isEnough ? weigh(searched, progress, rest: rest.dropFirst()) : fail(.typesRefused, progress)
        case .begun, .repeating, .askingBackend, .givingUp, .searching, .givingUpSearched, .ended:
            return unexpected(.tried(tries, over: time))
        }
    }

    private mutating func givenUpBefore() -> PushRecoveryAction {
        switch state {
        case .countingTry(let progress, let repetition): return giveUp(progress, repetition)
        case .countingSearch(let progress, let searched, let rest):
            return weigh(searched, progress, rest: rest.dropFirst())
        case .begun, .repeating, .askingBackend, .givingUp, .searching, .givingUpSearched, .ended:
            return unexpected(.givenUpBefore)
        }
    }

    private mutating func searched(_ ids: [Int: String], refused: Set<Int>) -> PushRecoveryAction {
        switch state {
        case .searching(let progress, fromCursor: _):
            let missing = progress.searched.filter { ids[$0] == nil && refused.contains($0) }
            let searched = Searched(found: ids.filter { progress.searched.contains($0.key) }, refused: missing)
            return weigh(searched, progress, rest: missing[...])
        case .begun, .repeating, .askingBackend, .countingTry, .givingUp, .countingSearch, .givingUpSearched, .ended:
            return unexpected(.found(ids, refused: refused))
        }
    }

    /// Reads everything where the stream cannot go on from the push's cursor.
    private mutating func outOfReach() -> PushRecoveryAction {
        switch state {
        case .searching(let progress, fromCursor: true): return search(progress, fromCursor: false)
        case .searching(let progress, fromCursor: false): return fail(.streamBroken, progress)
        case .begun, .repeating, .askingBackend, .countingTry, .givingUp, .countingSearch, .givingUpSearched, .ended:
            return unexpected(.outOfReach)
        }
    }
}

extension PushRecoveryMachine {
    /// Goes on with the next request, then with the search, then to the end.
    private mutating func next(_ progress: Progress) -> PushRecoveryAction {
        var progress = progress
        if let repetition = progress.repetitions.popFirst() {
            state = .repeating(progress, repetition)
            return .repeatRequest(repetition.index)
        }
        guard progress.searched.isEmpty else { return search(progress, fromCursor: hasCursor) }
        state = .ended(progress)
        return .close(found: progress.found, lost: progress.lost.sorted())
    }

    private mutating func search(_ progress: Progress, fromCursor: Bool) -> PushRecoveryAction {
        state = .searching(progress, fromCursor: fromCursor)
        return .search(progress.searched, fromCursor: fromCursor)
    }

    /// Leaves a creation that its request tells nothing about to the stream, if that may tell.
    private mutating func unanswerable(_ progress: Progress, _ repetition: Repetition) -> PushRecoveryAction {
        var progress = progress
        if repetition.canSearch {
            progress.searched.append(repetition.index)
        } else {
            progress.lost.append(repetition.index)
        }
        return next(progress)
    }

    private mutating func giveUp(_ progress: Progress, _ repetition: Repetition) -> PushRecoveryAction {
        state = .givingUp(progress, repetition)
        return .giveUp([repetition.index])
    }

    /// Takes the result of a search, unless creations may be found once the backend streams their types again.
    ///
    /// They are given up together, after enough attempts for each of them.
    private mutating func weigh(_ searched: Searched, _ progress: Progress, rest: ArraySlice<Int>) -> PushRecoveryAction
    {
        if let index = rest.first {
            state = .countingSearch(progress, searched, rest: rest)
            return .countTry(index)
        }
        guard !searched.refused.isEmpty else { return take(searched, progress) }
        state = .givingUpSearched(progress, searched)
        return .giveUp(searched.refused)
    }

    private mutating func take(_ searched: Searched, _ progress: Progress) -> PushRecoveryAction {
        var progress = progress
        progress.found.merge(searched.found) { $1 }
        progress.lost += progress.searched.filter { searched.found[$0] == nil }
        progress.searched = []
        return next(progress)
    }

    private mutating func fail(_ failure: PushRecoveryFailure, _ progress: Progress) -> PushRecoveryAction {
        state = .ended(progress)
        return .fail(failure)
    }

    private mutating func unexpected(_ event: PushRecoveryEvent) -> PushRecoveryAction {
        let unexpected = UnexpectedEvent(event, in: state)
        var progress = Progress()
        progress.found = found
        return fail(.unexpected(unexpected), progress)
    }
}
