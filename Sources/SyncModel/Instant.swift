// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Marks a moment, in whole milliseconds since 1970.
///
/// Differences of moments are plain numbers of milliseconds. A sum that would be out of range is the first or the last
/// moment in range, so that no time from outside can stop the process. If a moment can be unknown and is not optional,
/// 0 means unknown.
package struct Instant: Hashable, Comparable, Sendable {
    /// The milliseconds since 1970.
    package var milliseconds: Int64

    /// Creates a moment.
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The first moment in range.
    package static let earliest = Instant(milliseconds: .min)
    /// The last moment in range.
    package static let latest = Instant(milliseconds: .max)

    /// Returns whether a moment is earlier than another.
    package static func < (a: Instant, b: Instant) -> Bool { a.milliseconds < b.milliseconds }

    /// Returns the moment so many milliseconds later.
    package static func + (instant: Instant, milliseconds: Int64) -> Instant {
        let (sum, overflows) = instant.milliseconds.addingReportingOverflow(milliseconds)
        return Instant(milliseconds: overflows ? (milliseconds < 0 ? .min : .max) : sum)
    }

    /// Returns the moment so many milliseconds earlier.
    package static func - (instant: Instant, milliseconds: Int64) -> Instant {
        let (difference, overflows) = instant.milliseconds.subtractingReportingOverflow(milliseconds)
        return Instant(milliseconds: overflows ? (milliseconds < 0 ? .max : .min) : difference)
    }

    /// Moves a moment by so many milliseconds.
    package static func += (instant: inout Instant, milliseconds: Int64) { instant = instant + milliseconds }

    /// Returns the milliseconds that have passed since an earlier moment; negative if that one is later.
    package func milliseconds(since earlier: Instant) -> Int64 { (self - earlier.milliseconds).milliseconds }
}

extension Instant: ExpressibleByIntegerLiteral {
    /// Creates a moment of so many milliseconds since 1970.
    package init(integerLiteral milliseconds: Int64) { self.init(milliseconds: milliseconds) }
}

extension Instant: CustomStringConvertible {
    /// The milliseconds since 1970 as digits.
    package var description: String { "\(milliseconds)" }
}
