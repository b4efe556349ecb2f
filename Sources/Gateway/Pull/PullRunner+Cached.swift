// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import SyncEngine
import SyncModel

// An answer may get lost: what was streamed for it is not streamed again.
extension PullRunner {
    /// Goes on with what an earlier pull has streamed.
    mutating func takeCached() async throws {
        guard let kept else { throw PullFailure.unexpectedEvent }
        try await services.identities.verifyName(identity, at: services.clock.now)
        spooler = kept.spooler
        try await spooler.takeUp(at: kept.length)
        taken = spooler.counts
    }

    /// Keeps what was streamed for a pull that would stream the same, if it was much.
    func keep(_ stream: CachedAnswer?) {
        guard let stream, let cacheKey, let diffedLines else { return }
        guard spooler.counts.bytes >= services.tuning.cachedBytes else { return }
        // The first answer is being read from the spool; what later pulls put behind it is theirs alone.
        let length = SpoolLength(lines: spooler.length.lines, runs: diffedLines.length.runs)
        let room = services.spools.lease(for: query.principal)
        guard room.takeForLines(diffedLines.spooler.byteCount) else { return }
        services.kept.keep(
            CachedAnswers.Entry(
                key: cacheKey, stream: stream, spooler: diffedLines.spooler, length: length, room: room),
            at: services.clock.now)
    }

    /// Keeps what was taken for the next try, unless it may be the reason why this one has failed; no longer than it
    /// would have been kept.
    func keepAgain(after error: any Error) {
        guard let kept else { return }
        let isHarmless =
            switch error {
            case is CancellationError, SpoolError.cancelled, SpoolError.exhausted: true
            case let error as BackendError: error.isTransient
            case let failure as PullFailure: failure == .streamBroken || failure == .clockBehind
            default: false
            }
        if isHarmless { services.kept.putBack(kept, at: services.clock.now) }
    }
}
