// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names what a row is about.
///
/// The raw values are stored: none is ever given another meaning.
package enum RowKind: UInt8, CaseIterable, Sendable {
    /// The head of a principal; its key is empty.
    case principal = 1
    /// The head of a replica; its number is the replica's, its rank the hour of its last contact.
    case replica = 2
    /// A cursor that was handed out; its number is the cursor, its rank the replica's number.
    case cursor = 3
    /// A principal of a user in a scope, below the user; its bytes are the principal's digits.
    case scope = 4
    /// The note of a pushed record; its number is the note's sequence.
    case note = 5
    /// An id that the backend has given, by the client's id; its number is the mapping's sequence.
    case mapping = 6
    /// The kept answer of a push.
    case receipt = 8
    /// A push by calls; its number is the journal's.
    case journal = 9
    /// An operation of a journal whose outcome is unknown.
    case operation = 10
    /// A pushed record in quarantine; its number is the entry's.
    case push = 11
    /// The refused operations on a record; its number is the time of the last one.
    case refusal = 12
    /// A redelivery that a 409 has promised to a replica.
    case owed = 13
    /// A way in which a replica does not get on; its number is the time when it last did not.
    case trouble = 14
    /// Chunks that were staged and that no commit has named yet; its number is the time.
    case staged = 15
    /// Chunks that are no longer used, but may still be read; its number is the time since when.
    case loose = 16
    /// A line that could not be delivered, of all principals; its number counts how often, its rank is about the time.
    case line = 17
    /// A number of the whole state.
    case meta = 18
    /// The record of a pushed record in quarantine, by the entry's number.
    case pushBody = 19
    /// A mapping by the backend's id, then the client's.
    case backendID = 20
    /// A session that does not fit into its principal's head.
    case session = 21
    /// A chunk of a ledger; chunks have numbers and are no rows.
    case chunk = 22
}

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
        let bits = UInt64(bitPattern: self) ^ 1 << 63
        return (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - $0 * 8)) }
    }
}

/// Bytes under a key, with the few numbers that a store may compare.
package struct Row: Hashable, Sendable {
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
