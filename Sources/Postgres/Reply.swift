// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Passes the outcome of a job to the task that waits for it; the first outcome counts.
final class Reply: Sendable {
    private enum State {
        case pending
        case waiting(CheckedContinuation<Job.Output, any Error>)
        case resolved(Result<Job.Output, any Error>)
    }

    private let state = NIOLockedValueBox(State.pending)

    /// Gives the outcome; returns false if there was one already.
    @discardableResult
    func resolve(_ outcome: Result<Job.Output, any Error>) -> Bool {
        let (isFirst, waiter) = state.withLockedValue { state -> (Bool, CheckedContinuation<Job.Output, any Error>?) in
            switch state {
            case .resolved: return (false, nil)
            case .pending:
                state = .resolved(outcome)
                return (true, nil)
            case .waiting(let continuation):
                state = .resolved(outcome)
                return (true, continuation)
            }
        }
        waiter?.resume(with: outcome)
        return isFirst
    }

    /// Waits for the outcome; only one task may.
    func value() async throws -> Job.Output {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLockedValue { state -> Result<Job.Output, any Error>? in
                if case .resolved(let outcome) = state { return outcome }
                state = .waiting(continuation)
                return nil
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }
}
