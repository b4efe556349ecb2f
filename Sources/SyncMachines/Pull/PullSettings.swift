// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The configuration of pulls, as far as decisions depend on it.
package struct PullSettings: Hashable, Sendable {
    /// The keeper of the checkpoints.
    package var style: CheckpointStyle
    /// The answer to unknown cursors.
    package var unknownCursor: UnknownCursorRule
    /// The namespace of the token on the complete line.
    package var completeNamespace: String
    /// The number of times that a broken stream is resumed.
    package var resumeAttempts: Int
    /// The pause before the first of these, doubled each time, in milliseconds.
    package var resumeBackoff: Int64
    /// The schedule of full comparisons; nil if no ledger is kept.
    package var comparisons: ComparisonSchedule?
    /// True if a ledger is kept of what each device holds.
    package var keepsLedgers: Bool { comparisons != nil }

    /// Creates settings; the defaults are those of the configuration.
    package init(
        style: CheckpointStyle = .server, unknownCursor: UnknownCursorRule = .adopt,
        completeNamespace: String = "SyncCompleteV1", resumeAttempts: Int = 3, resumeBackoff: Int64 = 200,
        comparisons: ComparisonSchedule? = nil
    ) {
        self.style = style
        self.unknownCursor = unknownCursor
        self.completeNamespace = completeNamespace
        self.resumeAttempts = resumeAttempts
        self.resumeBackoff = resumeBackoff
        self.comparisons = comparisons
    }
}
