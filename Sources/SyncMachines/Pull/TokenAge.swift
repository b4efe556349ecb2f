// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import SyncModel

/// Compares a backend's tokens by age, as far as they show it.
///
/// Tokens are opaque (BACKEND-PROTOCOL, 4), but most of them end in a counter, a UUID of version 7 or a time. If those
/// go back, a backup of the backend was restored.
package enum TokenAge {
    /// The time by which the clocks of a backend's machines may differ, in milliseconds.
    static let clockTolerance: Int64 = 300_000

    /// Returns true if a token is certainly older than another: the two have the same parts between `|`, but for one that
    /// counts or tells a time.
    package static func isOlder(_ token: String, than other: String) -> Bool {
        // Those that go forward, as nearly all do, need no look at their parts: equally long numbers, UUIDs and times are
        // in the order of their letters.
        guard token != other, token.utf8.count != other.utf8.count || token < other else { return false }
        let parts = token.split(separator: "|", omittingEmptySubsequences: false)
        let others = other.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == others.count else { return false }
        let differing = zip(parts, others).filter { $0 != $1 }
        guard differing.count == 1, let (part, otherPart) = differing.first else { return false }
        if let time = time(of: part), let otherTime = self.time(of: otherPart) {
            return otherTime - time > clockTolerance
        }
        guard let count = count(of: part), let otherCount = self.count(of: otherPart) else { return false }
        return count < otherCount
    }

    /// Returns a token like this one that a backend cannot have given out yet: its last part that counts or tells a time
    /// is far ahead; nil if it has none, so that nothing shows which of two tokens is older.
    package static func ahead(of token: String) -> String? {
        var parts = token.split(separator: "|", omittingEmptySubsequences: false)
        for index in parts.indices.reversed() {
            guard let part = partAhead(of: parts[index]) else { continue }
            parts[index] = part[...]
            return parts.joined(separator: "|")
        }
        return nil
    }

    private static func partAhead(of part: Substring) -> String? {
        if let count = count(of: part) {
            // A third more is 20 years for a time in any unit.
            let (sum, isTooMuch) = count.addingReportingOverflow(max(1_000_000_000, count / 3))
            let digits = String(sum)
            return isTooMuch ? nil : String(repeating: "0", count: max(0, part.count - digits.count)) + digits
        }
        guard let time = time(of: part) else { return nil }
        guard part.utf8.count == 36 else { return Int(part.prefix(4)).map { "\($0 + 20)\(part.dropFirst(4))" } }
        let digits = String(time + 20 * 31_536_000_000, radix: 16)
        let padded = String(repeating: "0", count: max(0, 12 - digits.count)) + digits
        return "\(padded.prefix(8))-\(padded.dropFirst(8))\(part.dropFirst(13))"
    }

    private static func count(of part: Substring) -> Int64? {
        part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(part) : nil
    }

    /// Returns the milliseconds since 1970 that a part tells; nil if it is no time.
    private static func time(of part: Substring) -> Int64? {
        if let count = count(of: part) { return milliseconds(ofClock: count) }
        let text = Array(part.utf8)
        if text.count == 36, text[14] == UInt8(ascii: "7"), text[8] == UInt8(ascii: "-") {
            return Int64(String(decoding: text[0..<8] + text[9..<13], as: UTF8.self), radix: 16)
        }
        return text.withUnsafeBytes { ISOTimestamp.milliseconds(of: $0) }
    }

    /// Returns the time of a number that can be one between 2001 and 2096, in seconds, milliseconds or microseconds.
    private static func milliseconds(ofClock count: Int64) -> Int64? {
        switch count {
        case 1_000_000_000...4_000_000_000: count * 1_000
        case 1_000_000_000_000...4_000_000_000_000: count
        case 1_000_000_000_000_000...4_000_000_000_000_000: count / 1_000
        default: nil
        }
    }
}
