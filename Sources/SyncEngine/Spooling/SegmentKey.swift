// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names one stretch of an answer: the records of a table, or the ids of its deleted ones.
package struct SegmentKey: Hashable, Sendable {
    /// The table's place in the projection.
    package var table: Int
    /// Whether it holds ids of deleted records.
    package var isDeletions: Bool

    /// A segment's name.
    package init(table: Int, isDeletions: Bool) {
        self.table = table
        self.isDeletions = isDeletions
    }

    init(_ entry: CompactionEntry) {
        self.init(table: Int(entry.table), isDeletions: entry.operation != .upsert)
    }
}
