// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A record id as 128 bits of a keyed hash: what de-duplication and ledger know a record by, and the order of both.
///
/// Two different ids with one hash would be taken for one record; among a thousand million ids that has a chance of 1
/// to 10^20, and nobody without the deployment's key can look for a pair.
package struct IDHash: Hashable, Comparable, Sendable {
    /// The leading word of the order.
    package let high: UInt64
    /// The other one.
    package let low: UInt64

    /// The hash that no other one precedes.
    package static let first = IDHash(low: 0, high: 0)

    /// Takes the words as they are.
    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// By `high`, then by `low`, both as unsigned numbers.
    package static func < (left: IDHash, right: IDHash) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    /// 16 bytes whose order as bytes is the order of the hashes: both words big-endian, `high` first.
    package var bytes: [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> UInt64(56 - $0 % 8 * 8)) }
    }

    /// The hash of ``bytes``; nil where there are not 16.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        let words = bytes.enumerated().reduce(into: (high: UInt64(0), low: UInt64(0))) { words, byte in
            if byte.offset < 8 {
                words.high = words.high << 8 | UInt64(byte.element)
            } else {
                words.low = words.low << 8 | UInt64(byte.element)
            }
        }
        self.init(low: words.low, high: words.high)
    }
}
