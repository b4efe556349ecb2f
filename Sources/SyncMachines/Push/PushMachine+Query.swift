// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension PushMachine {
    /// One push as the machine needs to know it.
    package struct Query: Hashable, Sendable {
        /// The cursor that the client sent, if it can be one.
        package var presented: Cursor?
        /// Whether the client sent a time at all; without it there are no receipts (finding 18).
        package var hasToldTime: Bool
        /// How many operations there are.
        package var operations: Int
        /// How they reach the backend.
        package var style: Style
        /// Whether a ledger is kept, so that the ids have to be noted (finding 14).
        package var notes: Bool
        /// Whether the stream is asked for conflicts before anything is applied; only with a time there is something to
        /// compare with.
        package var checks: Bool
        /// How often a stream push whose outcome is unknown is asked for again, with the same idempotency key.
        package var attempts: Int
        /// The pause before the first of these, doubled each time, in milliseconds.
        package var backoff: Int64
        /// How long operations that may pass later are tried again, altogether, in milliseconds.
        package var retryBudget: Int64
        /// What a record means that the backend will never take.
        package var rejection: Rejection
        /// For calls, the stretches of operations that do not depend on each other.
        package var levels: [Range<Int>]
        /// How many calls are under way at the same time.
        package var parallel: Int
        /// How many operations one request of a stream push has at the most; zero is all of them.
        package var batch: Int

        /// A push; without levels its operations all depend on each other.
        package init(
            presented: Cursor?, hasToldTime: Bool, operations: Int, style: Style, notes: Bool = false,
            checks: Bool = false, attempts: Int = 3, backoff: Int64 = 200, retryBudget: Int64 = 0,
            rejection: Rejection = .fail, levels: [Range<Int>]? = nil, parallel: Int = 1, batch: Int = 0
        ) {
            self.levels = levels ?? (0..<operations).map { $0..<$0 + 1 }
            self.parallel = parallel
            self.batch = batch
            self.retryBudget = retryBudget
            self.rejection = rejection
            self.presented = presented
            self.hasToldTime = hasToldTime
            self.operations = operations
            self.style = style
            self.notes = notes
            self.checks = checks
            self.attempts = attempts
            self.backoff = backoff
        }

        /// Whether a refusal is about operations of this push.
        func fits(_ refusal: PushRefusal) -> Bool {
            refusal.records.allSatisfy { (0..<operations).contains($0.place) }
        }

        /// What a push ends with that went well: without a time there are no receipts.
        var success: PushAction { hasToldTime ? .saveReceipt : .answer }
    }
}
