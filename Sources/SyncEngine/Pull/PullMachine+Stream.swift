// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// The backend is made to hold the vector, and streams from there on.
extension PullMachine {
    /// Begins with what the pull is about; what an earlier one has streamed from there on need not come again.
    mutating func beginStream(at start: CheckpointVector) -> PullAction {
        let kept = noteBeginning(at: start)
        vector = start
        guard let kept else { return setPosition() }
        vector = kept.end
        carriedData = true
        isAfresh = false
        hasTakenCached = true
        step = .cachedTaken
        return .takeCached
    }

    /// Notes where the lines begin that are about to come.
    ///
    /// - Returns: The cached answer, if it began there too and means the same.
    private mutating func noteBeginning(at start: CheckpointVector) -> CachedAnswer? {
        var beginning = CachedAnswer(
            from: start, to: start, whole: plan.compared, session: query.session,
            generation: context.session.generation,
            change: negotiation.change, ids: context.ids)
        streamed = beginning
        guard let kept = query.kept else { return nil }
        beginning.end = kept.end
        return beginning == kept ? kept : nil
    }

    /// What a pull that would stream the same can go on from, once this one is answered; nil where that is not certain.
    package var cachedAnswer: CachedAnswer? {
        guard var streamed, refusedTypes.isEmpty else { return nil }
        streamed.end = vector
        streamed.generation = context.session.generation
        return streamed
    }

    /// Makes the backend hold exactly ``vector`` (findings 4 and 5), then streams.
    ///
    /// Where the backend may write checkpoints of its own while it streams (finding 6), its position counts as unknown
    /// before the stream begins, so that no crash can leave a wrong belief behind.
    mutating func setPosition() -> PullAction {
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
        return actions.isEmpty ? openStream() : run(actions)
    }

    /// Has the backend forget everything and set the vector anew, where it does not take the name of something that it
    /// holds itself: were that left to be, every pull would fail.
    mutating func namespacesRefused() -> PullAction {
        var actions: [PullAction] = [.storePosition(.unknown), .forgetAll]
        let tokens = start.namespaces.compactMap { start[$0] }
        if !tokens.isEmpty { actions.append(.acknowledge(tokens)) }
        if position != .unknown { actions.append(.storePosition(position)) }
        return run(actions)
    }

    func lacksUpsertNamespace(_ vector: CheckpointVector) -> Bool {
        query.upsertNamespaces.contains { vector[$0] == nil }
    }

    mutating func openStream() -> PullAction {
        step = .streaming
        defer { isAfresh = false }
        return .stream(types: requestTypes, from: start, afresh: isAfresh)
    }

    /// What the backend is asked for.
    private var requestTypes: [String] { query.requestTypes.filter { !refusedTypes.contains($0) } }

    /// Goes on without the request types that the backend has given up: the other tables must not wait for somebody to
    /// change the configuration.
    ///
    /// Some backends name what they do not take, others what they do; the latter are found out by asking. What is not
    /// asked for leaves the vector (finding 25), so that all of it comes once it is there again; but for deletions: an
    /// old one that comes again would take along what has come to hang on its record since.
    mutating func typesRefused(_ named: Set<String>) -> PullAction {
        let asked = Set(requestTypes)
        let named = named.intersection(asked)
        if query.isCheck, named == asked {
            // The device does without these types, and nobody can say what has become of their records.
            refusedTypes.formUnion(named)
            return checkComplete()
        }
        typeRefusals += 1
        // A backend may name what it has given up one type at a time.
        guard typeRefusals <= query.requestTypes.count + 2 else { return fail(.typesRefused) }
        if !named.isEmpty, named.count < asked.count {
            if namedTypes.isEmpty { namedTypes = named }
            refusedTypes.formUnion(named)
        } else {
            let others = Set(query.requestTypes).subtracting(namedTypes)
            guard !namedTypes.isEmpty, refusedTypes != others else { return fail(.typesRefused) }
            refusedTypes = others
        }
        dropQueue()
        // What was only tried without must not start over.
        let before = beforeRefusal ?? BeforeRefusal(vector: vector, dueType: dueType)
        beforeRefusal = before
        dueType = before.dueType.flatMap { refusedTypes.contains($0) ? nil : $0 }
        let gone = query.upsertNamespaces(ofOnly: refusedTypes)
        vector = before.vector.filter { !gone.contains($0) }
        return setPosition()
    }

    mutating func streamEnded(_ report: StreamReport) -> PullAction {
        beforeRefusal = nil
        carriedData = carriedData || report.carriedData
        for (namespace, token) in report.received.tokens { vector[namespace] = token }
        switch report.end {
        case .complete:
            if query.isCheck { return checkComplete() }
            guard settings.style == .server, lacksUpsertNamespace(start) else { return streamComplete() }
            step = .listingSelfWritten(resuming: false)
            return .listCheckpoints
        case .broken:
            guard resumes < settings.resumeAttempts else { return isComparing ? dropComparison() : fail(.streamBroken) }
            let pause = settings.resumeBackoff << Int64(min(resumes, 6))
            resumes += 1
            step = .pausing
            return .sleep(pause)
        case .reset(let token):
            return resetSeen(token)
        }
    }

    /// Takes over what the backend has written by itself: namespaces that it holds and that no line has moved.
    mutating func selfWrittenListed(_ held: CheckpointVector, resuming: Bool) -> PullAction {
        for namespace in held.namespaces where vector[namespace] == nil { vector[namespace] = held[namespace] }
        guard resuming else { return streamComplete() }
        position = .at(held)
        return setPosition()
    }

    /// Takes a broken stream up again, after the pause: a backend that has just broken a stream may not list either.
    mutating func resume() -> PullAction {
        guard settings.style == .server, lacksUpsertNamespace(start) else { return setPosition() }
        step = .listingSelfWritten(resuming: true)
        return .listCheckpoints
    }

    mutating func resetSeen(_ token: String) -> PullAction {
        guard !hasSeenReset else { return fail(.resetAgain) }
        hasSeenReset = true
        // The next pull gets the same line, and serves it; who looks in everything has to serve it to see anything.
        if query.isCheck, !query.isFirst { return endCheck(.outdated(.reset)) }
        if !query.isFirst, let refusal = streamWhole(because: .reset) { return refusal }
        // A backend that keeps no checkpoints has no flag to clear: the reset is for this cursor alone.
        guard settings.style == .server else { return startOver() }
        step = .resetRaised(token: token)
        return .raiseGeneration
    }

    mutating func startOver() -> PullAction {
        // Raising the generation has stored that the position is unknown.
        position = .unknown
        isStoredUnknown = true
        return streamAfresh()
    }

    private mutating func streamAfresh() -> PullAction {
        vector = CheckpointVector()
        _ = noteBeginning(at: vector)
        beforeRefusal = nil
        isAfresh = true
        carriedData = false
        hasLookedTwice = false
        plan.isSecondLook = false
        return setPosition()
    }

    /// Starts over where the backend does not take a checkpoint that it has made: were it presented again on every
    /// pull, its device would be stuck for good.
    mutating func tokensRefused() -> PullAction {
        if isComparing { return dropComparison() }
        if query.isCheck { return endCheck(.outdated(.refusedTokens)) }
        guard !hasSeenRefusal else { return fail(.tokensRefused) }
        hasSeenRefusal = true
        dropQueue()
        // The call that was refused came after the note that nobody knows.
        if !query.isFirst, restart == nil, let refusal = streamWhole(because: .refusedTokens) { return refusal }
        return startOver()
    }

    /// Goes on without what cannot be read: the client gets everything and a new replica, since no other pull could
    /// ever mend the old one, and no device stays stuck.
    mutating func ledgerDamaged() -> PullAction {
        // Everything came already, and nothing of the ledger was to be trusted.
        if case .diffing = step, !plan.isExact, plan.output == .whole { return diff() }
        context.ledger.isExact = false
        return streamWhole(because: .damagedLedger) ?? streamAfresh()
    }
}
