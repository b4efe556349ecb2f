// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// The backend is made to hold the vector, and streams from there to an end.
extension StreamMachine {
    /// Makes the backend hold exactly the vector (findings 4 and 5), then streams.
    ///
    /// Where the backend may write checkpoints of its own while it streams (finding 6), its position counts as unknown
    /// before the stream begins, so that no crash can leave a wrong belief behind. So it does while calls of another
    /// gateway may still move it.
    mutating func setPosition() -> StreamStep {
        let start = progress.vector
        progress.start = start
        guard query.isPositioned else { return open() }
        let after = query.lacksUpsertNamespace(start) || query.distrustsPosition ? Position.unknown : .at(start)
        var actions: [StreamAction] = []
        switch position {
        case .at(start): break
        case _ where start.isEmpty: actions = [.forgetAll]
        case .unknown:
            state = .listing
            return .perform(.listCheckpoints)
        case .at(let held):
            let superfluous = held.namespaces.filter { start[$0] == nil }
            let differing = start.namespaces.filter { held[$0] != start[$0] }.compactMap { start[$0] }
            if !superfluous.isEmpty { actions.append(.forget(superfluous)) }
            if !differing.isEmpty { actions.append(.acknowledge(differing)) }
        }
        let mustStore = isStoredUnknown || !actions.isEmpty
        if !isStoredUnknown, mustStore || after == .unknown { actions.insert(.storePosition(.unknown), at: 0) }
        if after != .unknown, mustStore { actions.append(.storePosition(after)) }
        (position, isStoredUnknown) = (after, after == .unknown)
        return set(actions)
    }

    /// Makes these calls one after the other, then opens the stream.
    mutating func set(_ actions: [StreamAction]) -> StreamStep {
        guard let action = actions.first else { return open() }
        state = .setting(rest: Array(actions.dropFirst()))
        return .perform(action)
    }

    /// Compares what the backend holds after the stream, or after the part before a break, with what the stream has
    /// begun at (finding 7).
    ///
    /// A checkpoint that was moved by a late call makes lines missing. Where the backend may have written it by itself,
    /// its namespace leaves the vector, so that the next stream begins it anew; anywhere else the stream has failed.
    mutating func listedDistrusted(_ held: CheckpointVector, resumes: Bool) -> StreamStep {
        let start = progress.start
        let moved = Set(start.namespaces + held.namespaces).filter { held[$0] != start[$0] }
        guard moved.allSatisfy({ query.mayWrite($0, streamingFrom: start) }) else { return end(.positionMoved) }
        progress.vector = progress.vector.filter { !moved.contains($0) }
        guard resumes else { return end(.complete) }
        position = .at(held)
        return setPosition()
    }

    mutating func open() -> StreamStep {
        state = .streaming
        defer { progress.isAfresh = false }
        let types = query.requestTypes.filter { !refusals.types.contains($0) }
        return .perform(.open(types: types, from: progress.start, afresh: progress.isAfresh))
    }

    mutating func end(_ end: StreamEnd) -> StreamStep {
        state = .idle
        return .ended(end)
    }

    mutating func unexpected(_ event: StreamEvent) -> StreamStep {
        let unexpected = UnexpectedEvent(event, in: state)
        return end(.unexpected(unexpected))
    }
}
