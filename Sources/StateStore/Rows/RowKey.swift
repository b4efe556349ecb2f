// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Identifies a row: rows of one owner and kind are ordered by their keys, byte by byte.
package struct RowKey: Hashable, Comparable, Sendable {
    /// The number of the principal that the row belongs to; 0 for rows of the whole state.
    package var owner: Int64
    /// The kind.
    package var kind: RowKind
    /// The rest of the key, at most 1,024 bytes.
    package var key: [UInt8]

    /// Creates a key.
    package init(_ kind: RowKind, of owner: Int64, _ key: [UInt8] = []) {
        self.owner = owner
        self.kind = kind
        self.key = key
    }

    /// Creates a key that is a number; such keys are in the order of the numbers.
    package init(_ kind: RowKind, of owner: Int64, number: Int64) {
        self.init(kind, of: owner, number.keyBytes)
    }

    /// Orders keys by owner, kind and bytes.
    package static func < (a: Self, b: Self) -> Bool {
        (a.owner, a.kind.rawValue) == (b.owner, b.kind.rawValue)
            ? a.key.lexicographicallyPrecedes(b.key) : (a.owner, a.kind.rawValue) < (b.owner, b.kind.rawValue)
    }
}

extension Int64 {
    /// The number as eight bytes whose order is that of the numbers.
    package var keyBytes: [UInt8] {
        withUnsafeBytes(of: (UInt64(bitPattern: self) ^ 1 << 63).bigEndian) { Array($0) }
    }
}

/// Bytes under a key, with the few numbers that a store may compare.
package struct ByteRow: Hashable, Sendable {
    /// The key.
    package var key: RowKey
    /// The version of a head, which no other value of the head ever had, or of another row that is compared; the number
    /// of times that a line came; else 0.
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
