// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The state of one pushed record, for all devices of its principal (finding 14).
package struct PushNote: Hashable, Sendable {
    /// The outcome of pushing a record.
    package enum State: Int, CaseIterable, Sendable {
        /// The record was about to be sent to the backend; it is unknown whether it arrived.
        case seen = 0
        /// The backend has the record, and so has the device that pushed it.
        case held = 1
        /// The backend has deleted the record at the device's request.
        case gone = 2
        /// The backend has refused the record, which is in quarantine; the backend still has its former state (finding
        /// 14).
        case refused = 3
    }

    /// The client's table.
    package var table: String
    /// The id that the client uses.
    package var id: String
    /// The outcome of pushing the record.
    package var state: State
    /// The note's position among the principal's notes; a cursor made later has seen its echo.
    package var sequence: Int64
    /// Digests of the columns by which descendants are found, in the order of the table's links; 0 if unknown.
    ///
    /// Unusable if the table has other links by now, as ``shape`` shows. Empty for a deletion.
    package var links: [UInt64]
    /// The tag of the shape that the table's entries had when the note was made: it gives the links their meaning.
    package var shape: UInt32

    /// Creates a note; the store gives it its sequence.
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
