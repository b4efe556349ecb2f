// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names one part of what is spooled for a table.
package struct SegmentKey: Hashable, Sendable {
    /// What a segment holds.
    package enum Part: CaseIterable, Sendable {
        /// Rows, as upsert lines brought them.
        case records
        /// Ids, as deletion lines brought them.
        case deletions
        /// Ids of records that are deleted without a line that names them: for absence, or with their parent.
        case absences
    }

    /// The table's place in the schema.
    package var table: Int
    /// What the segment holds.
    package var part: Part

    /// A segment's name.
    package init(table: Int, part: Part) {
        self.table = table
        self.part = part
    }
}
