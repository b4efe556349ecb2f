// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names what a row is about.
///
/// The raw values are stored: none is ever given another meaning.
package enum RowKind: UInt8, CaseIterable, Sendable {
    /// The head of a principal; its key is empty.
    case principal = 1
    /// The head of a replica; its number is the replica's, its rank the hour of its last contact, so that an index of
    /// contacts does not change with each of them.
    case replica = 2
    /// A cursor that was handed out; its number is the cursor, its rank the replica's number, where the rest of it is.
    case cursor = 3
    /// A principal of a user in a scope, below the user, whose number it has; it has no bytes.
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
    /// A line that could not be delivered, of all principals; its version counts how often, its number is the
    /// entry's, its rank about the time.
    case line = 17
    /// A number of the whole state.
    case meta = 18
    /// The record of a pushed record in quarantine, by the entry's number.
    case pushBody = 19
    /// A mapping by the backend's id, then the client's; it has no bytes.
    case backendID = 20
    /// A session of a principal.
    case session = 21
    /// The last move of checkpoints of a principal's sessions; its key is empty.
    case move = 25
    /// Cursors of a replica that its head names and has no room for; its key is the replica, then the page.
    case recent = 23
    /// Cursors of a replica that are older than those its head names; its key is the replica, then the last of them.
    case older = 24
    /// A chunk of a ledger; chunks have numbers and are no rows.
    case chunk = 22
}

extension RowKind {
    /// True if each of its rows has a value with a checksum.
    package var isCoded: Bool { ![.cursor, .scope, .meta, .backendID, .chunk].contains(self) }

    /// The table of its rows.
    package var table: ByteTableName {
        switch self {
        case .principal: .principal
        case .replica: .replica
        case .cursor: .cursor
        case .chunk: .chunk
        default: .entry
        }
    }
}
