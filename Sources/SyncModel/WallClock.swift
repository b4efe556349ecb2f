// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Tells the time of day and waits, replaceable in tests.
package protocol WallClock: Sendable {
    /// Milliseconds since 1970.
    var now: Int64 { get }
    /// Pauses before the next try; throws `CancellationError` where the task is cancelled meanwhile.
    func sleep(milliseconds: Int64) async throws
    /// Waits for the end of a time that others have to finish: a clock that leaps over pauses must let them go on.
    func wait(milliseconds: Int64) async throws
}

extension WallClock {
    /// Pauses.
    package func wait(milliseconds: Int64) async throws { try await sleep(milliseconds: milliseconds) }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
