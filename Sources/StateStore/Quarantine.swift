// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A quarantined line with its history.
package struct QuarantineEntry: Hashable, Sendable {
    /// Its number in the state.
    package var id: Int64
    /// The line; its texts and bytes may have been cut to the limits of the store.
    package var line: QuarantinedLine
    /// For whom it came last.
    package var principal: Principal
    /// How often it came.
    package var count: Int
    /// When it first came, in milliseconds since 1970.
    package var firstSeen: Int64
    /// When it last came, in milliseconds since 1970.
    package var lastSeen: Int64

    /// An entry.
    package init(
        id: Int64, line: QuarantinedLine, principal: Principal, count: Int, firstSeen: Int64, lastSeen: Int64
    ) {
        self.id = id
        self.line = line
        self.principal = principal
        self.count = count
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
    }
}

/// How full the quarantine is.
package struct QuarantineCounts: Hashable, Sendable {
    /// How many different lines are kept.
    package var entries: Int
    /// How many different lines are kept for each reason.
    package var byReason: [QuarantinedLine.Reason: Int]
    /// How many were not kept because there was no room, since the state began.
    package var dropped: Int

    /// Counts; without arguments those of an empty quarantine.
    package init(entries: Int = 0, byReason: [QuarantinedLine.Reason: Int] = [:], dropped: Int = 0) {
        self.entries = entries
        self.byReason = byReason
        self.dropped = dropped
    }
}
