// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncModel

/// Makes the backend stream from a vector on to the end, and does none of it: actions out, events in.
///
/// A pull, a check for conflicts and a search for created records hold one each. It knows what the backend is believed
/// to hold, sets that right by ack calls before it streams, takes up what breaks off, and goes on without request types
/// that the backend has given up. What a reset or a refused checkpoint means for the client, its holder decides.
struct StreamMachine: Sendable {
    /// The step of the stream.
    enum State: Sendable {
        /// No step: the holder decides.
        case idle
        /// An earlier pull's lines are taken over.
        case takingCached
        /// The backend says what it holds, before anything is set.
        case listing
        /// A call that sets the backend's position; these follow, and then the stream.
        case setting(rest: [StreamAction])
        /// Lines come.
        case streaming
        /// A broken stream is taken up again after this.
        case pausing
        /// The backend says which checkpoints it has written by itself.
        case listingSelfWritten(resumes: Bool)
        /// The backend says after the stream what it holds, because another gateway may have moved it.
        case listingDistrusted(resumes: Bool)
        /// A reset is being served.
        case raisingGeneration(token: String)
        case acknowledgingReset
    }

    /// The progress of the stream.
    struct Progress: Sendable {
        /// The vector at which the present request began.
        var start = CheckpointVector()
        /// Up to where lines have come.
        var vector = CheckpointVector()
        /// True if any of the lines was more than a checkpoint.
        var carriedData = false
        /// True if the earlier lines are to be dropped.
        var isAfresh = true
        /// The number of resumptions.
        var resumes = 0
        /// The vector at which lines of an earlier pull begin that were taken over; nil once a stream has completed them.
        var takenFrom: CheckpointVector?
    }

    let query: StreamQuery
    var state = State.idle
    /// The believed position of the backend.
    var position: Position
    /// True if the state has stored it as unknown.
    var isStoredUnknown: Bool
    var progress = Progress()
    /// The backend's refusals of request types.
    private(set) var refusals = TypeRefusals()
    /// The session's generation.
    private(set) var generation: Int
    /// The events that must not come twice.
    private var seen = Seen()

    /// The events that have come once.
    private struct Seen {
        var reset = false
        var refusedTokens = false
    }

    /// Creates a stream that has not begun.
    init(_ query: StreamQuery, session: SessionRow) {
        self.query = query
        position = session.position
        isStoredUnknown = position == .unknown
        generation = session.generation
    }

    /// Up to where lines have come.
    var vector: CheckpointVector { progress.vector }

    /// Streams from a vector on.
    mutating func begin(at vector: CheckpointVector) -> StreamStep {
        progress.vector = vector
        return setPosition()
    }

    /// Streams from the end of what an earlier pull has streamed.
    mutating func begin(behind cached: CachedAnswer) -> StreamStep {
        progress.vector = cached.end
        progress.carriedData = true
        progress.isAfresh = false
        progress.takenFrom = cached.start
        state = .takingCached
        return .perform(.takeCached)
    }

    /// Streams what has come since, once the stream has ended.
    mutating func goOn() -> StreamStep { setPosition() }

    /// Streams these namespaces from their beginning as well, once the stream has ended.
    mutating func fetch(_ namespaces: Set<String>) -> StreamStep {
        progress.vector = progress.vector.filter { !namespaces.contains($0) }
        return setPosition()
    }

    /// Throws away what has come, and streams everything.
    mutating func beginAfresh() -> StreamStep {
        refusals.forgetBeginning()
        progress = Progress(resumes: progress.resumes)
        return setPosition()
    }

    /// Streams everything after a reset or a refused checkpoint: the state says already that the position is unknown.
    mutating func startOver() -> StreamStep {
        (position, isStoredUnknown) = (.unknown, true)
        return beginAfresh()
    }

    /// Serves a reset, then streams everything.
    mutating func serveReset(token: String) -> StreamStep {
        // A backend that keeps no checkpoints has no flag to clear: the reset is for this stream alone.
        guard query.isPositioned else { return startOver() }
        state = .raisingGeneration(token: token)
        return .perform(.raiseGeneration)
    }

    /// Forgets the backend's position, because it is unknown which of the last calls has got through.
    mutating func losePosition() { (position, isStoredUnknown) = (.unknown, false) }

    /// Takes what happened and says what to do next.
    mutating func handle(_ event: StreamEvent) -> StreamStep {
        switch event {
        case .done: done()
        case .listed(let held): listed(held)
        case .tokensRefused: tokensRefused()
        case .namespacesRefused: namespacesRefused()
        case .typesRefused(let named): typesRefused(Set(named))
        case .generationRaised(let generation): generationRaised(generation)
        case .ended(let report): ended(report)
        }
    }

    private mutating func done() -> StreamStep {
        switch state {
        case .takingCached: return setPosition()
        case .setting(let rest): return set(rest)
        case .pausing:
            // A backend that has just broken a stream may not list either; the pause is over.
            guard query.isPositioned, query.distrustsPosition || query.lacksUpsertNamespace(progress.start) else {
                return setPosition()
            }
            state = query.distrustsPosition ? .listingDistrusted(resumes: true) : .listingSelfWritten(resumes: true)
            return .perform(.listCheckpoints)
        case .acknowledgingReset: return startOver()
        case .idle, .listing, .streaming, .listingSelfWritten, .listingDistrusted, .raisingGeneration:
            return unexpected(StreamEvent.done)
        }
    }

    private mutating func listed(_ held: CheckpointVector) -> StreamStep {
        switch state {
        case .listing:
            position = .at(held)
            return setPosition()
        case .listingSelfWritten(let resumes):
            // Namespaces that it holds and that no line has moved.
            for name in held.namespaces where progress.vector[name] == nil { progress.vector[name] = held[name] }
            guard resumes else { return end(.complete) }
            position = .at(held)
            return setPosition()
        case .listingDistrusted(let resumes): return listedDistrusted(held, resumes: resumes)
        case .idle, .takingCached, .setting, .streaming, .pausing, .raisingGeneration, .acknowledgingReset:
            return unexpected(StreamEvent.listed(held))
        }
    }

    /// Starts over where the backend does not take a checkpoint that it has made: were it presented again on every
    /// pull, its device would be stuck for good.
    ///
    /// A backend that keeps no checkpoints refuses the request of the stream that presents them.
    private mutating func tokensRefused() -> StreamStep {
        let arePresented =
            switch state {
            case .setting: true
            case .streaming: !progress.vector.isEmpty
            case .idle, .takingCached, .listing, .pausing, .listingSelfWritten, .listingDistrusted, .raisingGeneration,
                .acknowledgingReset:
                false
            }
        guard arePresented else { return unexpected(StreamEvent.tokensRefused) }
        defer { seen.refusedTokens = true }
        return end(seen.refusedTokens ? .tokensRefusedAgain : .tokensRefused)
    }

    /// Makes the backend forget everything and sets the vector anew, if the backend refuses a name that it
    /// holds itself: otherwise every pull would fail.
    private mutating func namespacesRefused() -> StreamStep {
        switch state {
        case .setting:
            var actions: [StreamAction] = [.storePosition(.unknown), .forgetAll]
            let tokens = progress.start.namespaces.compactMap { progress.start[$0] }
            if !tokens.isEmpty { actions.append(.acknowledge(tokens)) }
            if position != .unknown { actions.append(.storePosition(position)) }
            return set(actions)
        case .idle, .takingCached, .listing, .streaming, .pausing, .listingSelfWritten, .listingDistrusted,
            .raisingGeneration, .acknowledgingReset:
            return unexpected(StreamEvent.namespacesRefused)
        }
    }

    /// Goes on without the request types that the backend has given up: the other tables must not wait for a
    /// change of the configuration.
    ///
    /// A type that is not requested leaves the vector (finding 25), so that all of it comes once it is there again,
    /// except its deletions: an old one that comes again would delete records that have become its record's children
    /// since.
    private mutating func typesRefused(_ named: Set<String>) -> StreamStep {
        switch state {
        case .streaming:
            switch refusals.refuse(named, of: query, at: progress.takenFrom ?? progress.vector) {
            case .goOn(let vector):
                // What was taken over may be overtaken by lines of a refused type, which do not come.
                if progress.takenFrom != nil { progress = Progress(resumes: progress.resumes) }
                let gone = query.namespaces(ofOnly: refusals.types)
                progress.vector = vector.filter { !gone.contains($0) }
                return setPosition()
            case .nothingLeft(let areAllNamed):
                // A refusal of a token may name the type that it belongs to.
                guard !query.isPositioned, !query.isCheck, !progress.vector.isEmpty, !seen.refusedTokens else {
                    return end(.typesRefused(areAllNamed: areAllNamed))
                }
                refusals = TypeRefusals()
                return tokensRefused()
            }
        case .idle, .takingCached, .listing, .setting, .pausing, .listingSelfWritten, .listingDistrusted,
            .raisingGeneration, .acknowledgingReset:
            return unexpected(StreamEvent.typesRefused(named: []))
        }
    }

    private mutating func generationRaised(_ generation: Int) -> StreamStep {
        switch state {
        case .raisingGeneration(let token):
            self.generation = generation
            state = .acknowledgingReset
            return .perform(.acknowledgeReset(token: token))
        case .idle, .takingCached, .listing, .setting, .streaming, .pausing, .listingSelfWritten, .listingDistrusted,
            .acknowledgingReset:
            return unexpected(StreamEvent.generationRaised(generation))
        }
    }

    private mutating func ended(_ report: StreamReport) -> StreamStep {
        switch state {
        case .streaming: break
        case .idle, .takingCached, .listing, .setting, .pausing, .listingSelfWritten, .listingDistrusted,
            .raisingGeneration, .acknowledgingReset:
            return unexpected(StreamEvent.ended(report))
        }
        refusals.forgetBeginning()
        progress.carriedData = progress.carriedData || report.carriedData
        for (namespace, token) in report.received.tokens { progress.vector[namespace] = token }
        switch report.end {
        case .complete:
            progress.takenFrom = nil
            if query.distrustsPosition {
                state = .listingDistrusted(resumes: false)
                return .perform(.listCheckpoints)
            }
            guard !query.isCheck, query.isPositioned, query.lacksUpsertNamespace(progress.start) else {
                return end(.complete)
            }
            state = .listingSelfWritten(resumes: false)
            return .perform(.listCheckpoints)
        case .broken:
            guard progress.resumes < query.resumeAttempts else { return end(.broken) }
            let pause = query.resumeBackoff << Int64(min(progress.resumes, 6))
            progress.resumes += 1
            state = .pausing
            return .perform(.sleep(pause))
        case .reset(let token):
            defer { seen.reset = true }
            return end(seen.reset ? .resetAgain : .reset(token: token))
        }
    }
}
