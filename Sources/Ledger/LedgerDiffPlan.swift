// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// How the lines of a complete stream are compared with what a replica holds.
package struct LedgerDiffPlan: Hashable, Sendable {
    /// Against whose ledger.
    package enum Basis: Hashable, Sendable {
        /// None: the client has nothing, or nobody knows what it has.
        case nothing
        /// That of the presented cursor.
        case cursor
        /// Those of all the principal's replicas together, for a cursor that was collected (finding 11).
        case principal
    }

    /// What is written.
    package enum Output: Hashable, Sendable {
        /// What has changed since the presented cursor.
        case delta
        /// Everything, as the first layer of a new replica.
        case whole
    }

    /// Against whose ledger.
    package var basis: Basis
    /// What is written.
    package var output: Output
    /// Whether this is a client's first pull: everything goes into `created`.
    package var isFirst: Bool
    /// Whether the basis tells exactly what the device holds.
    ///
    /// Otherwise unknown ids are not `created`, no hash is trusted, and deletions go out for tombstones too (finding
    /// 9).
    package var isExact: Bool
    /// The request types of which everything came, so that what did not come is gone.
    package var compared: Set<String>
    /// The request types of which the ledger has never seen everything: unknown ids of theirs may be known to the
    /// device.
    package var untracked: Set<String>
    /// The request types of which the operator lets more deletions pass than `max_sweep` (finding 28).
    package var released: Set<String>
    /// The request types of which the stream has told everything since they were last compared: what a comparison finds
    /// all the same, the stream has missed.
    package var audited: Set<String> = []
    /// Tables that the client has got since it last synced, by name: what the ledger has of them says nothing of what
    /// the device holds (finding 24).
    package var renewed: Set<String> = []
    /// Older tables that have gained columns for the client.
    ///
    /// Their rows are fetched anew, and what does not come now has to go out once it does.
    package var gained: Set<String> = []
    /// Those of the renewed ones of which the device certainly has nothing; a renewed table's other rows may be there.
    package var empty: Set<String> = []
    /// The request types that the backend does not take for now: nothing goes from their tables meanwhile.
    package var refused: Set<String> = []
    /// The request types that the backend did not take, or of which a comparison failed, at the presented cursor: their
    /// lines may be older than those of the others.
    package var late: Set<String> = []
    /// Whether the stream was continued before anything is deleted because it did not come (finding 12).
    package var isSecondLook = false

    /// A plan; without arguments that of a first pull.
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

/// What a diff has found, as far as the course of the pull depends on it.
package struct LedgerDiffReport: Hashable, Sendable {
    /// Whether records would be deleted because they did not come: the stream is continued once before (finding 12).
    package var needsSecondLook: Bool
    /// Request types whose missing records could not be judged, because a line without a readable id may be one of them
    /// (finding 13).
    package var suspended: Set<String>
    /// Request types with more missing records than `max_sweep` allows (finding 28).
    package var blocked: Set<String>
    /// Those of which as many were deleted, because the operator has let them pass.
    package var released: Set<String> = []
    /// Request types of which something is pending that the stream has not brought: only comparing them can.
    package var awaitingRedelivery: Set<String> = []

    /// A report; without arguments that nothing stands in the way.
    package init(needsSecondLook: Bool = false, suspended: Set<String> = [], blocked: Set<String> = []) {
        self.needsSecondLook = needsSecondLook
        self.suspended = suspended
        self.blocked = blocked
    }
}
