// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Gives the time of day and waits; replaceable in tests.
package protocol WallClock: Sendable {
    /// The time of day.
    var now: Instant { get }
    /// The milliseconds since some moment: unlike the time of day it never goes back, and it goes on while the process
    /// or the machine is paused.
    var uptime: Int64 { get }
    /// Pauses before the next attempt; throws `CancellationError` if the task is cancelled meanwhile.
    func sleep(milliseconds: Int64) async throws
    /// Waits while others finish their work; a clock that skips pauses must still let them run.
    func wait(milliseconds: Int64) async throws
}

extension WallClock {
    /// The time of day, for a clock that nothing sets.
    package var uptime: Int64 { now.milliseconds }

    /// Pauses for the given time.
    package func wait(milliseconds: Int64) async throws { try await sleep(milliseconds: milliseconds) }
}

extension Duration {
    /// The duration in whole milliseconds, rounded towards zero.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
