// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The outcome of applying a pull answer.
package struct ClientApplied: Hashable, Sendable {
    /// The reason why the sync failed; nil for success.
    ///
    /// A failed sync leaves the database unchanged.
    package var failure: ClientFailure?
    /// The lines that the library wrote to its error log.
    package var log: [ClientLogEntry] = []
    /// The number of records and deletions in the answer, unknown tables included.
    package var remoteChangeCount = 0

    /// Creates an outcome.
    package init(failure: ClientFailure? = nil, log: [ClientLogEntry] = [], remoteChangeCount: Int = 0) {
        self.failure = failure
        self.log = log
        self.remoteChangeCount = remoteChangeCount
    }

    /// True if the answer was applied and its timestamp stored.
    package var isApplied: Bool { failure == nil }
}
