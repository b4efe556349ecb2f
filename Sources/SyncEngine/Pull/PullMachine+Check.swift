// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// A push asks the stream what has changed since its cursor (finding 22).
extension PullMachine {
    /// Streams from the cursor's vector on, under the same rules for the backend's position as a pull.
    ///
    /// Where a pull would have to get everything, its client has to pull before anything can be compared.
    mutating func beginCheck() -> PullAction {
        // Who looks for something in all that there is compares it with nothing.
        if query.isFirst { return query.requestTypes.isEmpty ? checkComplete() : beginStream(at: CheckpointVector()) }
        guard let row = context.row else { return endCheck(.outdated(.unknownCursor)) }
        if let reason = reasonForWhole(row) { return endCheck(.outdated(reason)) }
        plan = LedgerDiffPlan(basis: .cursor, output: .delta, isFirst: false, untracked: untracked(row))
        let vector = row.vector.filter { keeps($0, of: row) }
        checkedSince = vector
        return query.requestTypes.isEmpty ? checkComplete() : beginStream(at: vector)
    }

    /// Nothing is written down: the next pull streams the same once more, and checkpoints that the backend has written
    /// by itself belong to a position that nobody knows already.
    mutating func checkComplete() -> PullAction { endCheck(.complete(plan, since: checkedSince)) }

    mutating func endCheck(_ end: CheckedStream) -> PullAction {
        step = .ended
        return .endCheck(end)
    }
}
