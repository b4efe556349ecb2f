// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The name of one part of the spooled lines of a table.
package struct SegmentKey: Hashable, Sendable {
    /// The kind of lines that a segment holds.
    package enum Part: CaseIterable, Sendable {
        /// Rows, as upsert lines brought them.
        case records
        /// Ids, as deletion lines brought them.
        case deletions
        /// Ids of records that are deleted without a line that names them: for absence, or with their parent.
        case absences
    }

    /// The table's index in the schema.
    package var table: Int
    /// The kind of lines that the segment holds.
    package var part: Part

    /// Creates a segment's name.
    package init(table: Int, part: Part) {
        self.table = table
        self.part = part
    }
}
