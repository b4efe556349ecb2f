// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// A result that becomes known once and is awaited by any number of tasks.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Value, any Error>])
        case done(Result<Value, any Error>)
    }
    private let state = NIOLockedValueBox(State.waiting([]))

    /// Sets the result, if there is none yet.
    func resolve(_ result: Result<Value, any Error>) {
        let waiting: [CheckedContinuation<Value, any Error>] = state.withLockedValue { state in
            guard case .waiting(let waiting) = state else { return [] }
            state = .done(result)
            return waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// The result, as soon as it is set.
    var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Value, any Error>? = state.withLockedValue { state in
                    switch state {
                    case .done(let result): return result
                    case .waiting(let waiting):
                        state = .waiting(waiting + [continuation])
                        return nil
                    }
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }
}
