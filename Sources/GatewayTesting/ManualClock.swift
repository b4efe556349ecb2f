// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// A clock that moves only when a test advances it.
package final class ManualClock: Sendable {
    private let milliseconds: NIOLockedValueBox<Int64>

    /// Creates a clock that stands at this time, in milliseconds since 1970.
    package init(now: Int64 = 1_700_000_000_000) { milliseconds = NIOLockedValueBox(now) }

    /// The milliseconds since 1970.
    package var now: Int64 { milliseconds.withLockedValue { $0 } }

    /// Moves the clock, backwards where the milliseconds are negative, and returns where it stands then.
    @discardableResult
    package func advance(byMilliseconds step: Int64) -> Int64 {
        milliseconds.withLockedValue {
            $0 += step
            return $0
        }
    }

    /// Puts the clock to a time.
    package func set(to now: Int64) { milliseconds.withLockedValue { $0 = now } }
}
