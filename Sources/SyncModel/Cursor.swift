// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The integer `timestamp` that a pull hands out and the client sends back as `lastPulledAt`.
///
/// To the client it is a time in milliseconds, to the gateway a key. Clients store it as text and read it with
/// `parseInt`, so only whole numbers from 1 to 2^53 − 1 survive the round trip (protocol rule 5).
package struct Cursor: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The largest integer that a JavaScript number holds exactly.
    package static let maximum: Int64 = (1 << 53) - 1

    /// The time of the commit in milliseconds since 1970; unique within its principal.
    package let rawValue: Int64

    /// The smallest cursor.
    package static let first = Cursor(number: 1)

    private init(number: Int64) { rawValue = number }

    /// Creates a cursor; nil if `rawValue` is not in 1 … 2^53 − 1.
    package init?(rawValue: Int64) {
        guard rawValue >= 1, rawValue <= Self.maximum else { return nil }
        self.rawValue = rawValue
    }

    /// Creates the cursor of a commit at a time; nil if its milliseconds are not in 1 … 2^53 − 1.
    package init?(time: Instant) { self.init(rawValue: time.milliseconds) }

    /// The time of the commit, by the clock of the state, which may lead the system's.
    package var time: Instant { Instant(milliseconds: rawValue) }

    /// Orders cursors by time.
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The decimal digits, as they are written in an answer.
    package var description: String { String(rawValue) }
}
