// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads the machine's clock.
package struct SystemClock: WallClock {
    /// Creates the machine's clock.
    package init() {}

    /// The time of day.
    package var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The milliseconds since the machine was started, its sleep included.
    package var uptime: Int64 {
        #if os(Linux)
        let clock = CLOCK_BOOTTIME
        #else
        let clock = CLOCK_MONOTONIC
        #endif
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Waits for this many milliseconds.
    package func sleep(milliseconds: Int64) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }
}
