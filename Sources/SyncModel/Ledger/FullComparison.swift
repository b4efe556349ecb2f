// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// When everything of one request type was last compared with what a replica holds.
///
/// Stored in the cursor row by request type. A type without one has never been compared, and nobody has tried.
package struct FullComparison: Hashable, Sendable {
    /// When the comparison was complete, in milliseconds since 1970; 0 where it is due whatever the clock says.
    package var doneAt: Int64
    /// When one was last tried that could not be finished, in milliseconds since 1970; 0 where none was.
    package var triedAt: Int64
    /// A digest of the mappings that fill tables from the type; under another one a comparison is due (finding 25).
    ///
    /// Empty where none was ever complete.
    package var mapping: String
    /// When deletions were held back because they were too many, in milliseconds since 1970, until the operator accepts
    /// them (finding 28); 0 where none are.
    package var blockedAt: Int64
    /// How many tries in a row came to nothing because the backend's stream or the room for it failed.
    package var failures: Int

    /// A full comparison.
    package init(doneAt: Int64, triedAt: Int64 = 0, mapping: String, blockedAt: Int64 = 0, failures: Int = 0) {
        self.doneAt = doneAt
        self.triedAt = triedAt
        self.mapping = mapping
        self.blockedAt = blockedAt
        self.failures = failures
    }

    /// Whether the type was ever compared; until then what the ledger knows of its tables is not to be relied on.
    package var isTracked: Bool { doneAt > 0 || !mapping.isEmpty }

    /// Whether deletions are held back.
    package var isBlocked: Bool { blockedAt > 0 }

    /// Whether the operator has since let the deletions pass that were held back then.
    ///
    /// Leave that was given for one comparison is none for what a later one holds back.
    ///
    /// - Parameter acceptedAt: When leave was given last, in milliseconds since 1970; 0 where it never was.
    /// - Returns: False where nothing is held back.
    package func isReleased(by acceptedAt: Int64) -> Bool { isBlocked && blockedAt <= acceptedAt }
}
