// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A record id as 128 bits of a keyed hash, by which de-duplication and ledger identify and order records.
///
/// Two different ids with the same hash would be taken for one record. Among a thousand million ids the chance is 1 in
/// 10^20, and without the deployment's key such a pair cannot be searched for.
package struct IDHash: Hashable, Comparable, Sendable {
    /// The leading word of the order.
    package let high: UInt64
    /// The second word of the order.
    package let low: UInt64

    /// The hash that comes before all others.
    package static let first = IDHash(low: 0, high: 0)

    /// Creates a hash from its words.
    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// Orders hashes by `high`, then by `low`, both as unsigned numbers.
    package static func < (left: IDHash, right: IDHash) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    /// The hash as 16 bytes whose byte order is the order of the hashes: both words big-endian, `high` first.
    package var bytes: [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - $0 % 8 * 8)) }
    }

    /// Creates a hash from its ``bytes``; nil if there are not 16.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            high = high << 8 | UInt64(bytes[index])
            low = low << 8 | UInt64(bytes[index + 8])
        }
        self.init(low: low, high: high)
    }
}
