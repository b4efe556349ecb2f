// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A record id as 128 bits: what compaction and ledger know a record by.
package struct IDHash: Hashable, Comparable, Sendable {
    /// The first eight bytes of the hash as a little-endian number.
    package let low: UInt64
    /// The other eight.
    package let high: UInt64

    /// Takes the words as they are.
    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// The hash of an id's bytes under the deployment's key.
    package init(id: UnsafeRawBufferPointer, key: SipHash.Key) {
        (low, high) = SipHash.hash128(id, key: key)
    }

    /// The hash of an id under the deployment's key.
    package init(id: String, key: SipHash.Key) {
        var id = id
        self = id.withUTF8 { IDHash(id: UnsafeRawBufferPointer($0), key: key) }
    }

    /// Orders by the first word, then by the second: any order will do, as long as it is always the same.
    package static func < (left: IDHash, right: IDHash) -> Bool {
        left.low == right.low ? left.high < right.high : left.low < right.low
    }
}
