// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What a push says about one record, for all devices of its principal (finding 14).
package struct PushNote: Hashable, Sendable {
    /// What became of the record.
    package enum State: Int, CaseIterable, Sendable {
        /// It was about to be sent to the backend; whether it arrived, nobody knows.
        case seen = 0
        /// The backend has it, and so has the device that pushed it.
        case held = 1
        /// The backend has deleted it at the device's wish.
        case gone = 2
        /// The backend has refused it and it is set aside: what the backend has is what it had before (finding 14).
        case refused = 3
    }

    /// The client's table.
    package var table: String
    /// The id as the client has it.
    package var id: String
    /// What became of it.
    package var state: State
    /// By how many notes of the principal it was preceded; a cursor that was made later has seen its echo.
    package var sequence: Int64
    /// Digests of the columns by which descendants are found, in the order of the table's links; 0 where unknown.
    ///
    /// Of no use where the table has other links by now, which ``shape`` tells. Empty for a deletion.
    package var links: [UInt64]
    /// The tag of the shape that the table's entries had when the note was made: what the links mean.
    package var shape: UInt32

    /// A note; the store gives it its sequence.
    package init(
        table: String, id: String, state: State, sequence: Int64 = 0, links: [UInt64] = [], shape: UInt32 = 0
    ) {
        self.table = table
        self.id = id
        self.state = state
        self.sequence = sequence
        self.links = links
        self.shape = shape
    }
}
