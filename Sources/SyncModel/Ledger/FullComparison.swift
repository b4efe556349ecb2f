// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The knowledge that a cursor keeps of one request type: the times and the results of its full comparisons.
///
/// Stored in the cursor row by request type. A type without an entry has never been compared, nor has that been tried.
package struct FullComparison: Hashable, Sendable {
    /// The time at which the last comparison was complete; 0 if one is due regardless
    /// of the clock.
    package var doneAt: Instant
    /// The time of the last attempt that could not be finished; 0 if there was none.
    package var triedAt: Instant
    /// A digest of the mappings that fill tables from the type; if it differs from the present one, a comparison is due
    /// (finding 25).
    ///
    /// Empty if no comparison was ever complete.
    package var mapping: String
    /// The time at which deletions were held back because they were too many, until the
    /// operator accepts them (finding 28); 0 if none are.
    package var blockedAt: Instant
    /// The number of successive attempts that failed because of the backend's stream or lack of room for it.
    package var failures: Int
    /// True if records of the type are on the device with a default in place of a value that could not be read.
    package var hasDefaults: Bool

    /// Creates a full comparison.
    package init(
        doneAt: Instant, triedAt: Instant = 0, mapping: String, blockedAt: Instant = 0, failures: Int = 0,
        hasDefaults: Bool = false
    ) {
        self.doneAt = doneAt
        self.triedAt = triedAt
        self.mapping = mapping
        self.blockedAt = blockedAt
        self.failures = failures
        self.hasDefaults = hasDefaults
    }

    /// True if the type was ever compared; until then the ledger of its tables is not reliable.
    package var isTracked: Bool { doneAt > 0 || !mapping.isEmpty }

    /// True if deletions are held back.
    package var isBlocked: Bool { blockedAt > 0 }

    /// Returns true if the operator has accepted the deletions since they were held back.
    ///
    /// Permission given for one comparison does not cover deletions that a later one holds back.
    ///
    /// - Parameter acceptedAt: The operator's last permission; 0 if there was none.
    /// - Returns: False if nothing is held back.
    package func isReleased(by acceptedAt: Instant) -> Bool { isBlocked && blockedAt <= acceptedAt }
}
