// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// How applying a pull answer went.
package struct ClientApplied: Hashable, Sendable {
    /// Why the sync failed; nil where it worked.
    ///
    /// A failed one leaves the database as it was.
    package var failure: ClientFailure?
    /// What the library wrote to its error log.
    package var log: [ClientLogEntry] = []
    /// How many records and deletions the answer had, unknown tables included.
    package var remoteChangeCount = 0

    /// An outcome.
    package init(failure: ClientFailure? = nil, log: [ClientLogEntry] = [], remoteChangeCount: Int = 0) {
        self.failure = failure
        self.log = log
        self.remoteChangeCount = remoteChangeCount
    }

    /// Whether the answer was applied and its timestamp stored.
    package var isApplied: Bool { failure == nil }
}
