// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The way in which the lines of a complete stream are compared with the records of a replica.
package struct LedgerDiffPlan: Hashable, Sendable {
    /// Against whose ledger.
    package enum Basis: Hashable, Sendable {
        /// No basis: the client has nothing, or its records are unknown.
        case nothing
        /// The ledger of the presented cursor.
        case cursor
        /// Those of all the principal's replicas together, for a cursor that was collected (finding 11).
        case principal
    }

    /// The layer that is written.
    package enum Output: Hashable, Sendable {
        /// The changes since the presented cursor.
        case delta
        /// All entries, as the first layer of a new replica.
        case whole
    }

    /// Against whose ledger.
    package var basis: Basis
    /// The layer that is written.
    package var output: Output
    /// True if this is a client's first pull: everything goes into `created`.
    package var isFirst: Bool
    /// True if the basis is exactly what the device holds.
    ///
    /// Otherwise unknown ids are not `created`, no hash is trusted, and deletions go out for tombstones too (finding
    /// 9).
    package var isExact: Bool
    /// The request types that came completely, so that a record that did not come is gone.
    package var compared: Set<String>
    /// The request types whose records the ledger has never seen completely: unknown ids of theirs may be known to the
    /// device.
    package var untracked: Set<String>
    /// The request types for which the operator allows more deletions than `max_sweep` (finding 28).
    package var released: Set<String>
    /// The request types whose changes the stream has brought completely since they were last compared: a difference
    /// that a comparison finds is then a gap in the stream.
    package var audited: Set<String> = []
    /// Tables that the client has got since it last synced, by name: what the ledger has of them says nothing of what
    /// the device holds (finding 24).
    package var renewed: Set<String> = []
    /// Older tables that have gained columns for the client.
    ///
    /// Their rows are fetched anew, and what does not come now has to go out once it does.
    package var gained: Set<String> = []
    /// The renewed tables of which the device certainly has nothing; rows of other renewed tables may be there.
    package var empty: Set<String> = []
    /// The request types that the backend does not take for now: nothing goes from their tables meanwhile.
    package var refused: Set<String> = []
    /// The request types that the backend refused, or whose comparison failed, at the presented cursor: their
    /// lines may be older than those of the others.
    package var late: Set<String> = []
    /// True if the stream was continued before records are deleted for absence (finding 12).
    package var isSecondLook = false

    /// Creates a plan; without arguments the plan of a first pull.
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

/// The findings of a diff on which the course of the pull depends.
package struct LedgerDiffReport: Hashable, Sendable {
    /// True if records would be deleted for absence: the stream is continued once before (finding 12).
    package var needsSecondLook: Bool
    /// Request types whose missing records could not be judged, because a line without a readable id may be one of them
    /// (finding 13).
    package var suspended: Set<String>
    /// Request types with more missing records than `max_sweep` allows (finding 28).
    package var blocked: Set<String>
    /// The tables in which so many records were deleted because the operator has allowed it.
    package var released: Set<String> = []
    /// Request types with a pending redelivery that the stream has not brought, so that they have to be compared.
    package var awaitingRedelivery: Set<String> = []

    /// Creates a report; without arguments, nothing prevents the commit.
    package init(needsSecondLook: Bool = false, suspended: Set<String> = [], blocked: Set<String> = []) {
        self.needsSecondLook = needsSecondLook
        self.suspended = suspended
        self.blocked = blocked
    }
}
