// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
package import SyncModel

/// A wall clock that a test moves; whoever waits moves it too, and so waits no time at all.
package struct ManualWallClock: WallClock {
    /// The clock behind it.
    package let clock: ManualClock

    /// Creates a wall clock that shows the time of another clock.
    package init(_ clock: ManualClock = ManualClock()) { self.clock = clock }

    /// The time of day.
    package var now: Instant { clock.now }

    /// Waits in real time, in which others go on; the clock stands still.
    package func wait(milliseconds: Int64) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }

    /// Moves the clock on and lets others run.
    package func sleep(milliseconds: Int64) async throws {
        clock.advance(byMilliseconds: max(0, milliseconds))
        await Task.yield()
        try Task.checkCancellation()
    }
}
