// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The way in which the lines of a complete stream are compared with what a replica holds.
package struct LedgerDiffPlan: Hashable, Sendable {
    /// The ledger that the stream is compared with.
    package enum Basis: Hashable, Sendable {
        /// No ledger: the client has nothing, or what it has is unknown.
        case nothing
        /// The ledger of the presented cursor.
        case cursor
        /// The ledgers of all the principal's replicas together, for a cursor that was collected (finding 11).
        case principal
    }

    /// The contents of the layer that is written.
    package enum Output: Hashable, Sendable {
        /// The changes since the presented cursor.
        case delta
        /// All entries, as the first layer of a new replica.
        case whole
    }

    /// The ledger that the stream is compared with.
    package var basis: Basis
    /// The contents of the layer that is written.
    package var output: Output
    /// True if this is a client's first pull: everything goes into `created`.
    package var isFirst: Bool
    /// True if the basis says exactly what the device holds.
    ///
    /// Otherwise unknown ids are not `created`, no hash is trusted, and deletions go out for tombstones too (finding
    /// 9).
    package var isExact: Bool
    /// The request types that came in full, so that what did not come is gone.
    package var compared: Set<String>
    /// The request types that the ledger has never seen in full: the device may know ids of theirs that the ledger does
    /// not.
    package var untracked: Set<String>
    /// The request types for which the operator allows more deletions than `max_sweep` (finding 28).
    package var released: Set<String>
    /// The request types that the stream has brought in full since their last comparison: a difference that a
    /// comparison finds nevertheless is one that the stream has missed.
    package var audited: Set<String> = []
    /// Tables that the client has gained since it last synced, by name: their entries in the ledger say nothing about
    /// what the device holds (finding 24).
    package var renewed: Set<String> = []
    /// Older tables that have gained columns for the client.
    ///
    /// Their rows are fetched again, and a row that does not come now has to go out once it does.
    package var gained: Set<String> = []
    /// The renewed tables that are certainly empty on the device; the device may already have rows of other renewed
    /// tables.
    package var empty: Set<String> = []
    /// The request types that the backend currently refuses: meanwhile no record of their tables is deleted.
    package var refused: Set<String> = []
    /// The request types that were not tracked at the presented cursor, that the backend refused then, or whose
    /// comparison failed: their lines may be older than those of the others.
    package var late: Set<String> = []
    /// True if the stream has been continued once, as it must be before records are deleted because they did not come
    /// (finding 12).
    package var isSecondLook = false

    /// Creates a plan; without arguments, that of a first pull.
    package init(
        basis: Basis = .nothing, output: Output = .whole, isFirst: Bool = true, isExact: Bool = true,
        compared: Set<String> = [], untracked: Set<String> = [], released: Set<String> = []
    ) {
        self.basis = basis
        self.output = output
        self.isFirst = isFirst
        self.isExact = isExact
        self.compared = compared
        self.untracked = untracked
        self.released = released
    }
}

/// The findings of a diff that the course of the pull depends on.
package struct LedgerDiffReport: Hashable, Sendable {
    /// True if records would be deleted because they did not come: the stream is continued once before that (finding
    /// 12).
    package var needsSecondLook: Bool
    /// Request types whose missing records could not be judged, for example because a line without a readable id may be
    /// one of them (finding 13).
    package var suspended: Set<String>
    /// Request types with more missing records than `max_sweep` allows (finding 28).
    package var blocked: Set<String>
    /// Request types with more missing records than that, which were deleted because the operator has allowed it.
    package var released: Set<String> = []
    /// Request types with a pending redelivery that the stream has not brought: only a comparison can.
    package var awaitingRedelivery: Set<String> = []
    /// Request types of records that are on the device with a default in place of a value that could not be read.
    package var defaulted: Set<String> = []

    /// Creates a report; without arguments, one without objections.
    package init(needsSecondLook: Bool = false, suspended: Set<String> = [], blocked: Set<String> = []) {
        self.needsSecondLook = needsSecondLook
        self.suspended = suspended
        self.blocked = blocked
    }
}

extension LedgerDiffReport {
    /// Notes whether an entry that is written says that its record went out with a default, and returns it.
    mutating func note(_ isDefaulted: Bool, in table: LedgerDiffTable) -> Bool {
        if isDefaulted { defaulted.formUnion(table.requestTypes) }
        return isDefaulted
    }
}
