// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers

/// Lets as many commands start, or run to their end, at once as there are processors: more would take each other's
/// time, until some test's time is over.
///
/// A gateway that listens counts no more, so no test holds a permit while it waits for another.
enum CommandPermits {
    private struct State {
        var free = ProcessInfo.processInfo.activeProcessorCount
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = NIOLockedValueBox(State())

    /// Runs the body with a permit.
    static func with<R>(_ body: () async throws -> R) async rethrows -> R {
        await withCheckedContinuation { continuation in
            let isFree = state.withLockedValue { state in
                if state.free == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = state.withLockedValue { state in
                if state.waiting.isEmpty { state.free += 1 }
                return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            }
            next?.resume()
        }
        return try await body()
    }
}
