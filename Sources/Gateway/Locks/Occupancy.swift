// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Counts running operations, up to a limit.
final class Occupancy: Sendable {
    private let maximum: Int
    private let count = NIOLockedValueBox(0)

    init(maximum: Int) { self.maximum = maximum }

    /// The number of running operations.
    var taken: Int { count.withLockedValue(\.self) }

    /// Counts one more; returns false if the limit is reached.
    func tryEnter() -> Bool {
        count.withLockedValue { count in
            guard count < maximum else { return false }
            count += 1
            return true
        }
    }

    /// Counts one less.
    func leave() { count.withLockedValue { $0 -= 1 } }
}
