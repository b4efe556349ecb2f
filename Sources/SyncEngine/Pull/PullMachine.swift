// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Decides every step of a pull and does none of them: actions out, events in.
///
/// The gateway runs one action, reports what happened, and gets the next, until `answer` or `fail`. An action that
/// throws ends the pull; nothing that the machine has asked for until then is visible to a client. The order is:
/// confirm, position unknown, ack calls, position, stream, list where needed, diff, maybe stream and diff once more,
/// commit, answer.
package struct PullMachine: Sendable {
    /// How far the clock may stand behind the newest cursor and the answer still waits for it, in milliseconds.
    package static let clockTolerance: Int64 = 2_000
    /// How old a cursor may get while nothing changes, in milliseconds: then the backend's completion token is renewed.
    package static let idleCursorAge: Int64 = 24 * 3_600 * 1_000
    static let commitAttempts = 10
    static let clockWaits = 10

    /// What to do when the queue of actions is empty.
    enum Step: Sendable {
        case loading, confirmed, compacted, comparing, comparisonDropped, positionListed, streaming, pausing
        case listingSelfWritten(resuming: Bool), resetRaised(token: String), resetAcknowledged, diffing
        case cachedTaken, clock, committing(CursorRow), ended
    }

    /// What a pull goes back to where the comparison of a whole type fails.
    struct BeforeComparison: Sendable {
        let type: String
        let vector: CheckpointVector
        let carriedData: Bool
        let resumes: Int
    }

    /// Where the pull had got to and what was to be compared when the backend began to refuse types.
    struct BeforeRefusal: Sendable {
        let vector: CheckpointVector
        let dueType: String?
    }

    let query: PullQuery
    let settings: PullSettings
    var context = PullContext()
    var step = Step.loading
    private var queue: [PullAction] = []

    var replica: ReplicaID
    /// How the records will be handed out, as far as is known by now; certain once the stream is complete.
    package internal(set) var delivery = PullDelivery.first
    var restart: PullRestart?
    /// What the client's schema version asks for, once the context is known.
    package internal(set) var negotiation = SchemaNegotiator.Decision(outcome: .nothing)
    /// The request types that the backend does not take any more.
    package internal(set) var refusedTypes: Set<String> = []
    /// The types that its first refusal named, and how many refusals there were.
    var namedTypes: Set<String> = []
    var typeRefusals = 0
    /// Nil once the backend streams again.
    var beforeRefusal: BeforeRefusal?
    /// Where the lines that have come began, and which types are among them as a whole; nil where they are more than
    /// one stream, or less.
    var streamed: CachedAnswer?
    /// What the lines are compared with, and what came of it.
    var plan = LedgerDiffPlan()
    var report: LedgerDiffReport?
    var hasLookedTwice = false
    /// The request type that is to be compared as a whole once the stream has come to its end.
    var dueType: String?
    var beforeComparison: BeforeComparison?
    /// The request type of which a comparison has failed.
    var failedComparison: String?
    /// Where the present stream request began.
    var start = CheckpointVector()
    /// Where the pull has got to.
    var vector = CheckpointVector()
    /// What the backend is believed to hold, and whether the state says that nobody knows.
    var position = Position.unknown
    var isStoredUnknown = false
    var isAfresh = true
    var carriedData = false
    var resumes = 0
    /// Where a check began, whatever of its stream came twice.
    var checkedSince = CheckpointVector()
    var hasSeenReset = false
    var hasSeenRefusal = false
    var commits = 0
    var waits = 0
    /// Whether the pull went on from where an earlier one's stream has ended.
    package internal(set) var hasTakenCached = false
    /// The event that could not be, and in which state it came, for the log.
    package private(set) var unexpected: UnexpectedEvent?

    /// A pull that is about to begin.
    package init(query: PullQuery, settings: PullSettings) {
        self.query = query
        self.settings = settings
        replica = query.newReplica
    }

    /// Whether everything of a type is being compared: what fails then need not fail the pull
    /// (``PullEvent/comparisonFailed``).
    package var isComparing: Bool { beforeComparison != nil }

    /// The first action.
    package mutating func begin() -> PullAction { .loadContext }

    /// Takes what happened and says what to do next.
    ///
    /// An event that cannot be in this state ends the pull with ``PullFailure/unexpectedEvent``: what a backend or the
    /// state answers must never end the process.
    package mutating func handle(_ event: PullEvent) -> PullAction {
        if case .done = event, let next = queue.first {
            queue.removeFirst()
            return next
        }
        switch (step, event) {
        case (_, .comparisonFailed) where isComparing: return dropComparison()
        case (.compacted, .ledgerDamaged), (.diffing, .ledgerDamaged): return ledgerDamaged()
        case (.comparisonDropped, .done): return streamComplete()
        case (.loading, .context(let context)): return contextLoaded(context)
        case (.confirmed, .done): return compactOrChooseMode()
        case (.compacted, .done): return chooseMode()
        case (.comparing, .comparisonGranted(let isGranted)): return comparisonAnswered(isGranted)
        case (.positionListed, .listed(let held)):
            position = .at(held)
            return setPosition()
        case (.streaming, .done): return openStream()
        case (.streaming, .streamEnded(let report)): return streamEnded(report)
        case (.listingSelfWritten(let resuming), .listed(let held)): return selfWrittenListed(held, resuming: resuming)
        case (.pausing, .done): return resume()
        case (.streaming, .tokensRefused): return tokensRefused()
        case (.streaming, .namespacesRefused): return namespacesRefused()
        case (.streaming, .typesRefused(let named)): return typesRefused(Set(named))
        case (.resetRaised(let token), .generationRaised(let generation)):
            context.session.generation = generation
            step = .resetAcknowledged
            return .acknowledgeReset(token: token)
        case (.resetAcknowledged, .done): return startOver()
        case (.diffing, .diffed(let report)): return diffed(report)
        case (.cachedTaken, .done): return setPosition()
        case (.clock, .clock(let now)): return clockRead(now)
        case (.clock, .done): return .readClock
        case (.committing(let row), .done): return answer(row)
        case (.committing, .cursorTaken(let newest)): return cursorTaken(newest)
        default:
            unexpected = UnexpectedEvent(event, in: step)
            return fail(.unexpectedEvent)
        }
    }

    /// Runs these one after the other, the first one now.
    mutating func run(_ actions: [PullAction]) -> PullAction {
        queue = Array(actions.dropFirst())
        return actions[0]
    }

    /// Forgets what was still to be done.
    mutating func dropQueue() { queue = [] }

    mutating func fail(_ failure: PullFailure) -> PullAction {
        step = .ended
        return .fail(failure)
    }
}
