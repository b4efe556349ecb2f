// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Decides every step of a pull and does none of them: actions out, events in.
///
/// The gateway runs one action, reports what happened, and gets the next, until `answer` or `fail`. An action that
/// throws ends the pull; nothing that the machine has asked for until then is visible to a client. The order is that of
/// the design: confirm, position unknown, ack calls, position, stream, list where needed, commit, answer.
package struct PullMachine: Sendable {
    /// How far the clock may stand behind the newest cursor and the answer still waits for it, in milliseconds.
    package static let clockTolerance: Int64 = 2_000
    /// How old a cursor may get while nothing changes, in milliseconds: then the backend's completion token is renewed.
    package static let idleCursorAge: Int64 = 24 * 3_600 * 1_000
    private static let commitAttempts = 10
    private static let clockWaits = 10

    /// What to do when the queue of actions is empty.
    private enum Step: Sendable {
        case loading, confirmed, positionListed, streaming, pausing, listingSelfWritten(resuming: Bool)
        case resetRaised(token: String), resetAcknowledged, verified, clock, committing(CursorRow), ended
    }

    private let query: PullQuery
    private let settings: PullSettings
    private var context = PullContext()
    private var step = Step.loading
    private var queue: [PullAction] = []

    private var replica: ReplicaID
    private var delivery = PullDelivery.first
    private var restart: PullRestart?
    private var usesKept = false
    /// Where the present stream request began.
    private var start = CheckpointVector()
    /// Where the pull has got to.
    private var vector = CheckpointVector()
    /// What the backend is believed to hold, and whether the state says that nobody knows.
    private var position = Position.unknown
    private var isStoredUnknown = false
    private var isAfresh = true
    private var carriedData = false
    private var resumes = 0
    private var hasSeenReset = false
    private var hasSeenRefusal = false
    private var commits = 0
    private var waits = 0

    /// A pull that is about to begin.
    package init(query: PullQuery, settings: PullSettings) {
        self.query = query
        self.settings = settings
        replica = query.newReplica
    }

    /// The first action.
    package mutating func begin() -> PullAction { .loadContext }

    /// Takes what happened and says what to do next.
    package mutating func handle(_ event: PullEvent) -> PullAction {
        if case .done = event, let next = queue.first {
            queue.removeFirst()
            return next
        }
        switch (step, event) {
        case (.loading, .context(let context)): return contextLoaded(context)
        case (.confirmed, .done): return chooseMode()
        case (.positionListed, .listed(let held)):
            position = .at(held)
            return setPosition()
        case (.streaming, .done): return openStream()
        case (.streaming, .streamEnded(let report)): return streamEnded(report)
        case (.listingSelfWritten(let resuming), .listed(let held)): return selfWrittenListed(held, resuming: resuming)
        case (.pausing, .done): return resume()
        case (.streaming, .tokensRefused): return tokensRefused()
        case (.resetRaised(let token), .generationRaised(let generation)):
            context.session.generation = generation
            step = .resetAcknowledged
            return .acknowledgeReset(token: token)
        case (.resetAcknowledged, .done): return startOver()
        case (.verified, .done):
            step = .clock
            return .readClock
        case (.clock, .clock(let now)): return clockRead(now)
        case (.clock, .done): return .readClock
        case (.committing(let row), .done): return answer(row)
        case (.committing, .cursorTaken(let newest)): return cursorTaken(newest)
        default: preconditionFailure("a pull got \(event) while \(step)")
        }
    }
}

extension PullMachine {
    private mutating func contextLoaded(_ context: PullContext) -> PullAction {
        self.context = context
        position = context.session.position
        isStoredUnknown = position == .unknown
        step = .confirmed
        if let row = context.row, !row.isConfirmed { return .confirm(row.cursor) }
        return chooseMode()
    }

    private mutating func chooseMode() -> PullAction {
        guard !query.isFirst else { return beginStream(at: CheckpointVector()) }
        guard let row = context.row else { return restart(because: .unknownCursor) }
        if !context.hasConfirmedSuccessor { replica = row.replica }
        // Where the tokens travel in the request, nothing hangs on a session and no reset concerns other cursors.
        if settings.style == .server {
            guard row.session == query.session else { return restart(because: .otherSession) }
            guard row.generation == context.session.generation else { return restart(because: .olderGeneration) }
        }
        delivery = .later
        if let kept = query.kept, kept.session == row.session, kept.generation == row.generation,
            kept.replica == row.replica
        {
            usesKept = true
            vector = kept.vector
            delivery = kept.delivery
            carriedData = true
            step = .verified
            return .verifyCredential
        }
        return beginStream(at: row.vector.filter { keeps($0, of: row) })
    }

    /// Whether a namespace stays in the vector.
    ///
    /// One that is not asked for now would come back later with its deletions gone (finding 25). Under another
    /// configuration even one that nobody has declared may be a leftover.
    private func keeps(_ namespace: String, of row: CursorRow) -> Bool {
        guard row.mappingDigest != query.mappingDigest else { return !query.retiredNamespaces.contains(namespace) }
        return query.askedNamespaces.contains(namespace) || namespace == settings.completeNamespace
    }

    /// Streams everything for a client whose cursor leads nowhere.
    private mutating func restart(because reason: PullRestart) -> PullAction {
        restart = reason
        switch settings.unknownCursor {
        case .adopt: delivery = .later
        case .replacement: delivery = .replacement
        case .refuse: return fail(.unknownCursor)
        }
        return beginStream(at: CheckpointVector())
    }

    private mutating func beginStream(at vector: CheckpointVector) -> PullAction {
        self.vector = vector
        return setPosition()
    }

    /// Makes the backend hold exactly ``vector`` (findings 4 and 5), then streams.
    ///
    /// Where the backend may write checkpoints of its own while it streams (finding 6), its position counts as unknown
    /// before the stream begins, so that no crash can leave a wrong belief behind.
    private mutating func setPosition() -> PullAction {
        start = vector
        guard settings.style == .server else { return openStream() }
        let after = lacksUpsertNamespace(start) ? Position.unknown : .at(start)
        var actions: [PullAction] = []
        switch position {
        case .at(start): break
        case _ where start.isEmpty: actions = [.forgetAll]
        case .unknown:
            step = .positionListed
            return .listCheckpoints
        case .at(let held):
            let superfluous = held.namespaces.filter { start[$0] == nil }
            let differing = start.namespaces.filter { held[$0] != start[$0] }.compactMap { start[$0] }
            if !superfluous.isEmpty { actions.append(.forget(superfluous)) }
            if !differing.isEmpty { actions.append(.acknowledge(differing)) }
        }
        let mustStore = isStoredUnknown || !actions.isEmpty
        if !isStoredUnknown, mustStore || after == .unknown { actions.insert(.storePosition(.unknown), at: 0) }
        if after != .unknown, mustStore { actions.append(.storePosition(after)) }
        position = after
        isStoredUnknown = after == .unknown
        step = .streaming
        guard !actions.isEmpty else { return openStream() }
        queue = Array(actions.dropFirst())
        return actions[0]
    }

    private func lacksUpsertNamespace(_ vector: CheckpointVector) -> Bool {
        query.upsertNamespaces.contains { vector[$0] == nil }
    }

    private mutating func openStream() -> PullAction {
        step = .streaming
        defer { isAfresh = false }
        return .stream(types: query.requestTypes, from: start, afresh: isAfresh)
    }

    private mutating func streamEnded(_ report: StreamReport) -> PullAction {
        carriedData = carriedData || report.carriedData
        for (namespace, token) in report.received.tokens { vector[namespace] = token }
        switch report.end {
        case .complete:
            guard settings.style == .server, lacksUpsertNamespace(start) else { return streamComplete() }
            step = .listingSelfWritten(resuming: false)
            return .listCheckpoints
        case .broken:
            guard resumes < settings.resumeAttempts else { return fail(.streamBroken) }
            let pause = settings.resumeBackoff << Int64(min(resumes, 6))
            resumes += 1
            step = .pausing
            return .sleep(pause)
        case .reset(let token):
            return resetSeen(token)
        }
    }

    /// Takes over what the backend has written by itself: namespaces that it holds and that no line has moved.
    private mutating func selfWrittenListed(_ held: CheckpointVector, resuming: Bool) -> PullAction {
        for namespace in held.namespaces where vector[namespace] == nil { vector[namespace] = held[namespace] }
        guard resuming else { return streamComplete() }
        position = .at(held)
        return setPosition()
    }

    /// Takes a broken stream up again, after the pause: a backend that has just broken a stream may not list either.
    private mutating func resume() -> PullAction {
        guard settings.style == .server, lacksUpsertNamespace(start) else { return setPosition() }
        step = .listingSelfWritten(resuming: true)
        return .listCheckpoints
    }

    private mutating func resetSeen(_ token: String) -> PullAction {
        guard !hasSeenReset else { return fail(.resetAgain) }
        hasSeenReset = true
        if !query.isFirst {
            restart = .reset
            switch settings.unknownCursor {
            case .adopt: delivery = .later
            case .replacement: delivery = .replacement
            case .refuse: return fail(.unknownCursor)
            }
        }
        // A backend that keeps no checkpoints has no flag to clear: the reset is for this cursor alone.
        guard settings.style == .server else { return startOver() }
        step = .resetRaised(token: token)
        return .raiseGeneration
    }

    private mutating func startOver() -> PullAction {
        vector = CheckpointVector()
        // Raising the generation has stored that the position is unknown.
        position = .unknown
        isStoredUnknown = true
        isAfresh = true
        carriedData = false
        return setPosition()
    }

    /// Starts over where the backend does not take a checkpoint that it has made: were it presented again on every
    /// pull, its device would be stuck for good.
    private mutating func tokensRefused() -> PullAction {
        guard !hasSeenRefusal else { return fail(.tokensRefused) }
        hasSeenRefusal = true
        queue = []
        guard query.isFirst || restart != nil else {
            // The call that was refused came after the note that nobody knows.
            position = .unknown
            isStoredUnknown = true
            isAfresh = true
            carriedData = false
            return restart(because: .refusedTokens)
        }
        return startOver()
    }

    private mutating func streamComplete() -> PullAction {
        step = .clock
        return .readClock
    }

    private mutating func clockRead(_ now: Int64) -> PullAction {
        if let row = context.row, isIdle(row, at: now) {
            step = .ended
            return .answer(
                PullAnswerPlan(cursor: row.cursor, content: .nothing, delivery: delivery, row: nil, restart: nil))
        }
        if let newest = context.newest, now <= newest.rawValue {
            let lag = newest.rawValue - now
            waits += 1
            guard lag <= Self.clockTolerance, waits <= Self.clockWaits else { return fail(.clockBehind) }
            return .sleep(lag + 1)
        }
        guard let cursor = Cursor(rawValue: now) else { return fail(.clockBehind) }
        let isContinuation = context.row.map { $0.replica == replica } ?? false
        let row = CursorRow(
            principal: query.principal, cursor: cursor, replica: replica,
            parent: isContinuation ? query.presented : nil, vector: vector, schemaVersion: newSchemaVersion,
            session: query.session, generation: context.session.generation, mappingDigest: query.mappingDigest)
        step = .committing(row)
        return .commit(row, isNewReplica: !isContinuation)
    }

    /// A pull that brought nothing gives the presented cursor back and writes nothing (design §2).
    private func isIdle(_ row: CursorRow, at now: Int64) -> Bool {
        !carriedData && restart == nil && row.replica == replica && context.isNewestOfReplica
            && row.mappingDigest == query.mappingDigest && now - row.cursor.rawValue < Self.idleCursorAge
            && now >= row.cursor.rawValue
    }

    /// LS of the new row: the client's own version after a whole stream, else what the parent's row says.
    private var newSchemaVersion: Int? {
        guard let row = context.row, restart == nil else { return query.schemaVersion }
        return row.schemaVersion
    }

    private mutating func cursorTaken(_ newest: Cursor) -> PullAction {
        commits += 1
        guard commits < Self.commitAttempts else { return fail(.cursorContention) }
        context.newest = newest
        step = .clock
        return .readClock
    }

    private mutating func answer(_ row: CursorRow) -> PullAction {
        step = .ended
        return .answer(
            PullAnswerPlan(
                cursor: row.cursor, content: usesKept ? .kept : .streamed, delivery: delivery, row: row,
                restart: restart))
    }

    private mutating func fail(_ failure: PullFailure) -> PullAction {
        step = .ended
        return .fail(failure)
    }
}
