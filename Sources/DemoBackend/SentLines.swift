// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Counts what streams have sent, by line type.
final class SentLines: Sendable {
    private let counts = NIOLockedValueBox<[String: Int]>([:])

    func add(_ lines: StreamLines) { counts.withLockedValue { $0.merge(lines.types) { $0 + $1 } } }

    /// The counts, which begin anew.
    func take() -> [String: Int] {
        counts.withLockedValue { counts in
            defer { counts = [:] }
            return counts
        }
    }
}

extension DemoBackend {
    /// How many lines of each type went out since the last call, but for bulk rows; what a fault kept back counts.
    package func takeSentLines() -> [String: Int] { sent.take() }
}
