// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// What a push does with records that the backend will never take.
extension PushMachine {
    /// How often a stream push is sent again without what was refused: some backends name one line at a time.
    package static let maximumRounds = 256
    /// For how long, in milliseconds: nobody else of the person can push meanwhile.
    package static let maximumRoundTime: Int64 = 60_000

    /// Whether a refusal is about operations of this push.
    func fits(_ refusal: PushRefusal) -> Bool {
        refusal.records.allSatisfy { (0..<query.operations).contains($0.place) }
    }

    /// Stops, or goes on without what the backend will never take.
    mutating func refused(_ refusal: PushRefusal) -> PushAction {
        guard refusal.kind == .rejected, query.rejection != .fail else {
            return end(.refuse(refusal, applied: applied))
        }
        guard query.rejection == .quarantine else { return goOn(without: refusal) }
        return findRoom(refusal)
    }

    mutating func findRoom(_ refusal: PushRefusal) -> PushAction {
        step = .findingRoom(refusal)
        return .findRoom(rejected.union(refusal.records.map(\.place)))
    }

    mutating func goOn(without refusal: PushRefusal) -> PushAction {
        let before = rejected.count
        rejected.formUnion(refusal.records.map(\.place))
        guard query.style == .stream else { return nextCallBatch() }
        // One that names nothing new would be asked for ever.
        guard rejected.count > before else { return end(.refuse(refusal, applied: applied)) }
        attempt = 0
        guard !rejected.isSuperset(of: batch) else { return batchApplied() }
        rounds += 1
        guard rounds <= Self.maximumRounds else { return end(.fail(.tooManyRefusals, applied: applied)) }
        step = .timing
        return .readClock
    }

    /// Sends the rest, unless this goes on for too long already.
    mutating func sendAgain(at now: Int64) -> PushAction {
        let since = firstRound ?? now
        firstRound = since
        let (passed, isNonsense) = now.subtractingReportingOverflow(since)
        guard !isNonsense, passed <= Self.maximumRoundTime else {
            return end(.fail(.tooManyRefusals, applied: applied))
        }
        return send()
    }
}
