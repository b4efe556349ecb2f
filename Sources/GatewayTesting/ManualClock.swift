// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
package import SyncModel

/// A clock that moves only when a test advances it.
package final class ManualClock: Sendable {
    private let moment: NIOLockedValueBox<Instant>

    /// Creates a clock that stands at this time.
    package init(now: Instant = 1_700_000_000_000) { moment = NIOLockedValueBox(now) }

    /// The time at which the clock stands.
    package var now: Instant { moment.withLockedValue { $0 } }

    /// Moves the clock, backwards where the milliseconds are negative, and returns where it stands then.
    @discardableResult
    package func advance(byMilliseconds step: Int64) -> Instant {
        moment.withLockedValue {
            $0 += step
            return $0
        }
    }

    /// Puts the clock to a time.
    package func set(to now: Instant) { moment.withLockedValue { $0 = now } }
}
