// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Ledger
package import SyncModel

/// Decides how a push asks the stream what has changed since its cursor (finding 22), or what there is at all.
///
/// It streams from the cursor's vector on, under the same rules for the backend's position as a pull. Nothing is diffed
/// and nothing but the position is written down: the next pull streams the same once more, and checkpoints that the
/// backend has written by itself belong to a position that is unknown already.
package struct CheckMachine: SyncMachine, Sendable {
    indirect enum State: Sendable {
        case loading
        /// The lines from the vector on are to be compared by the plan.
        case streaming(StreamMachine, LedgerDiffPlan, since: CheckpointVector)
        case ended
    }

    private let query: PullQuery
    private let settings: PullSettings
    private(set) var state = State.loading
    /// The event that could not be, and in which state it came, for the log.
    package private(set) var unexpected: UnexpectedEvent?

    /// Creates a check that has not begun.
    ///
    /// - Parameters:
    ///   - query: The query, made by ``PullQuery/checking(_:)``.
    ///   - settings: The settings of pulls.
    package init(query: PullQuery, settings: PullSettings) {
        self.query = query
        self.settings = settings
    }

    /// The reading of a refusal of the stream request.
    package var refusalReading: RefusalReading {
        switch state {
        case .streaming(let stream, _, since: _): stream.refusals.reading
        case .loading, .ended: .byNames
        }
    }

    /// Returns the first action.
    package mutating func begin() -> CheckAction { .loadContext }

    /// Takes what happened and says what to do next; what cannot be fails the check.
    package mutating func handle(_ event: CheckEvent) -> CheckAction {
        switch event {
        case .context(let context): contextLoaded(context)
        case .stream(let event): streamed(event)
        }
    }

    private mutating func contextLoaded(_ context: PullContext) -> CheckAction {
        switch state {
        case .loading: return begin(context)
        case .streaming, .ended: return unexpected(CheckEvent.context(context))
        }
    }

    private mutating func streamed(_ event: StreamEvent) -> CheckAction {
        switch state {
        case .streaming(var stream, let plan, let since):
            let step = stream.handle(event)
            return follow(step, stream, plan: plan, since: since)
        case .loading, .ended: return unexpected(CheckEvent.stream(event))
        }
    }

    /// Begins to stream; if a pull would get a full stream, its client has to pull before anything can be compared.
    private mutating func begin(_ context: PullContext) -> CheckAction {
        let planner = PullPlanner(query: query, settings: settings, context: context)
        var (plan, vector) = (LedgerDiffPlan(), CheckpointVector())
        // A search in the whole stream compares it with nothing.
        if !query.isFirst {
            guard let row = context.row else { return end(.outdated(.unknownCursor)) }
            if let reason = planner.reasonForWhole(row) { return end(.outdated(reason)) }
            plan = LedgerDiffPlan(basis: .cursor, output: .delta, isFirst: false, untracked: planner.untracked(row))
            vector = row.vector.filter { planner.keeps($0, of: row) }
        }
        guard !query.requestTypes.isEmpty else { return end(.complete(plan, since: vector, refused: [])) }
        var stream = StreamMachine(StreamQuery(query, settings, isCheck: true), session: context.session)
        let step = stream.begin(at: vector)
        return follow(step, stream, plan: plan, since: vector)
    }

    private mutating func follow(
        _ step: StreamStep, _ stream: StreamMachine, plan: LedgerDiffPlan, since: CheckpointVector
    ) -> CheckAction {
        let complete = CheckedStream.complete(plan, since: since, refused: stream.refusals.types)
        switch step {
        case .perform(let action):
            state = .streaming(stream, plan, since: since)
            return .stream(action)
        case .ended(let end):
            switch end {
            case .complete: return self.end(complete)
            case .broken: return fail(.streamBroken)
            case .reset(let token):
                // The next pull gets the same line, and serves it. A search in the whole stream has to serve it: the
                // backend streams nothing before.
                guard query.isFirst else { return self.end(.outdated(.reset)) }
                var stream = stream
                let step = stream.serveReset(token: token)
                return follow(step, stream, plan: plan, since: since)
            case .positionMoved: return fail(.positionMoved)
            case .resetAgain: return fail(.resetAgain)
            case .tokensRefused, .tokensRefusedAgain: return self.end(.outdated(.refusedTokens))
            // The device does without these types, and the fate of their records is unknown.
            case .typesRefused(areAllNamed: true): return self.end(complete)
            case .typesRefused(areAllNamed: false): return fail(.typesRefused)
            case .unexpected(let event):
                unexpected = event
                return fail(.unexpectedEvent)
            }
        }
    }

    private mutating func end(_ stream: CheckedStream) -> CheckAction {
        state = .ended
        return .end(stream)
    }

    private mutating func fail(_ failure: PullFailure) -> CheckAction {
        state = .ended
        return .fail(failure)
    }

    private mutating func unexpected(_ event: CheckEvent) -> CheckAction {
        unexpected = UnexpectedEvent(event, in: state)
        return fail(.unexpectedEvent)
    }
}

/// The gateway's next step of a check; exactly one at a time, each answered by one ``CheckEvent``.
package enum CheckAction: Hashable, Sendable {
    /// Read what the state knows; answered by `context`.
    case loadContext
    /// Do the next step of its stream; answered by `stream`.
    case stream(StreamAction)
    /// The end: this came of it.
    case end(CheckedStream)
    /// The end: nothing came of it.
    case fail(PullFailure)
}

/// The outcome of the last ``CheckAction``.
package enum CheckEvent: Hashable, Sendable {
    /// The state's context of the pull.
    case context(PullContext)
    /// The event of the stream.
    case stream(StreamEvent)
}

/// The end of a search in the stream for changes since a cursor.
package enum CheckedStream: Hashable, Sendable {
    /// The lines since this vector are complete, and to be compared by the plan, except those of request
    /// types that the backend has refused.
    case complete(LedgerDiffPlan, since: CheckpointVector, refused: Set<String>)
    /// The stream cannot go on from the cursor: the client has to pull first.
    case outdated(FullStreamReason)
}
