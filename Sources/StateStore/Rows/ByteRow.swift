// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Bytes under a key, with the few numbers that a store may compare.
package struct ByteRow: Hashable, Sendable {
    /// The key.
    package var key: RowKey
    /// The version of a head, which no other value of the head ever had; 0 for other rows.
    package var version: Int64
    /// A number by which rows of a kind are found and ordered.
    package var number: Int64
    /// A second number by which rows of a kind are ordered.
    package var rank: Int64
    /// The value.
    package var bytes: [UInt8]

    /// Creates a row.
    package init(key: RowKey, version: Int64 = 0, number: Int64 = 0, rank: Int64 = 0, bytes: [UInt8] = []) {
        self.key = key
        self.version = version
        self.number = number
        self.rank = rank
        self.bytes = bytes
    }
}
