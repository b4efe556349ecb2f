// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The offsets of one time zone from UTC, as a list of the moments at which they change.
package struct ZoneOffsets: Hashable, Sendable {
    /// A moment from which another offset holds; both in milliseconds, offsets positive to the east.
    package struct Change: Hashable, Sendable {
        /// The moment, since 1970 in UTC.
        package var at: Int64
        /// The offset from then on.
        package var offset: Int64
        /// Creates a change.
        package init(at: Int64, offset: Int64) {
            self.at = at
            self.offset = offset
        }
    }

    /// The name by which the configuration calls the zone.
    package let name: String
    private let first: Int64
    private let changes: [Change]

    /// The zone without an offset.
    package static let utc = ZoneOffsets(name: "UTC", first: 0)

    /// Creates a zone from its offset before all changes, and the changes in the order of time.
    package init(name: String, first: Int64, changes: [Change] = []) {
        self.name = name
        self.first = first
        self.changes = changes
    }

    /// Returns the offset that holds at a moment, both in milliseconds.
    package func offset(at moment: Int64) -> Int64 {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].at <= moment { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : changes[low - 1].offset
    }

    /// Returns the moment at which the zone's clocks show a time, given in milliseconds as if it were UTC.
    ///
    /// Of a time that the clocks show twice it is the earlier moment. A time that they skip counts as if they had not
    /// been put forward yet, as in Java's and Python's libraries.
    package func moment(ofLocal time: Int64) -> Int64 {
        let day: Int64 = 86_400_000
        let (before, after) = (offset(at: time - day), offset(at: time + day))
        if offset(at: time - before) != before, offset(at: time - after) == after { return time - after }
        return time - before
    }
}
