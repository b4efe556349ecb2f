// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names what earlier pushes of a principal have left to do before its next pull; almost always nothing.
package struct UnfinishedPushes: Hashable, Sendable {
    /// The numbers of the open journals, oldest first.
    package var openJournals: [Int64]
    /// True if the operator has scheduled retries of quarantined records.
    package var hasScheduledRetries: Bool

    /// Creates a value; the default is that nothing is left to do.
    package init(openJournals: [Int64] = [], hasScheduledRetries: Bool = false) {
        self.openJournals = openJournals
        self.hasScheduledRetries = hasScheduledRetries
    }
}
