// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Encodes the comparison states of a cursor for storage, as netstrings.
///
/// Each request type has its name, the numbers and the digest, as in `8:AlbumsV1,17:1800000000000 0 0,6:a1b2c3,`. The
/// numbers are the times when it was done, when it was last tried and since when deletions are held back (0: none are),
/// then, if one of the two is not 0, the number of successive failed attempts, and 1 if records have defaults in place of
/// values.
package enum FullComparisonStates {
    /// Returns the one spelling of the states, by request type in the order of the bytes.
    package static func encode(_ comparisons: [String: FullComparison]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (type, comparison) in comparisons.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            Netstrings.append(type.utf8, to: &bytes)
            let defaults = comparison.hasDefaults ? " 1" : ""
            let rest = comparison.failures > 0 || comparison.hasDefaults ? " \(comparison.failures)\(defaults)" : ""
            Netstrings.append(
                "\(comparison.doneAt) \(comparison.triedAt) \(comparison.blockedAt)\(rest)".utf8, to: &bytes)
            Netstrings.append(comparison.mapping.utf8, to: &bytes)
        }
        return bytes
    }

    /// Returns the states in stored bytes; nil if they are invalid.
    package static func decode(_ bytes: [UInt8]) -> [String: FullComparison]? {
        var rest = bytes[...]
        var comparisons: [String: FullComparison] = [:]
        // The times that are safe to calculate with.
        let times: ClosedRange<Int64> = 0...1 << 53
        while !rest.isEmpty {
            guard let type = Netstrings.next(in: &rest), let numbers = Netstrings.next(in: &rest),
                let mapping = Netstrings.next(in: &rest)
            else { return nil }
            let parts = numbers.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
            guard (3...5).contains(parts.count), let doneAt = parts[0], let triedAt = parts[1], let blocked = parts[2],
                let failures = parts.count > 3 ? parts[3] : 0, (0...Int64(Int32.max)).contains(failures),
                parts.count < 5 || parts[4] == 1,
                times.contains(doneAt), times.contains(triedAt), times.contains(blocked), comparisons[type] == nil
            else { return nil }
            comparisons[type] = FullComparison(
                doneAt: Instant(milliseconds: doneAt), triedAt: Instant(milliseconds: triedAt), mapping: mapping,
                blockedAt: Instant(milliseconds: blocked), failures: Int(failures),
                hasDefaults: parts.count == 5)
        }
        return comparisons
    }
}
