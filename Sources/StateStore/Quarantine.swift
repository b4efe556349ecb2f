// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A quarantined line with its history.
package struct QuarantineEntry: Hashable, Sendable {
    /// The entry's number in the state.
    package var id: Int64
    /// The line; its texts and bytes may have been cut to the limits of the store.
    package var line: QuarantinedLine
    /// The principal for whose pull the line came last.
    package var principal: Principal
    /// The number of times that the line came.
    package var count: Int
    /// The time at which the line first came.
    package var firstSeen: Instant
    /// The time at which the line last came.
    package var lastSeen: Instant
}

/// The numbers of lines in the quarantine.
package struct QuarantineCounts: Hashable, Sendable {
    /// The number of different lines that are kept.
    package var entries: Int
    /// The number of different lines that are kept for each reason.
    package var byReason: [QuarantinedLine.Reason: Int]
    /// The number of lines dropped for lack of room, since the state began.
    package var dropped: Int

    /// Creates counts; without arguments, those of an empty quarantine.
    package init(entries: Int = 0, byReason: [QuarantinedLine.Reason: Int] = [:], dropped: Int = 0) {
        self.entries = entries
        self.byReason = byReason
        self.dropped = dropped
    }
}
