// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// The counts of the lines that streams have sent, by line type.
final class SentLines: Sendable {
    private let counts = NIOLockedValueBox<[String: Int]>([:])

    func add(_ lines: StreamLines) { counts.withLockedValue { $0.merge(lines.types) { $0 + $1 } } }

    /// Returns the counts and resets them.
    func take() -> [String: Int] {
        counts.withLockedValue { counts in
            defer { counts = [:] }
            return counts
        }
    }
}

extension DemoBackend {
    /// Returns the number of lines of each type that were sent since the last call, without bulk rows; lines that a
    /// fault kept back are counted.
    package func takeSentLines() -> [String: Int] { sent.take() }
}
