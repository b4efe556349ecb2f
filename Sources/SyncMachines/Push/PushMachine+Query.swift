// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension PushMachine {
    /// One push as the machine needs to know it.
    package struct Query: Hashable, Sendable {
        /// The cursor that the client sent, if it can be one.
        package var presented: Cursor?
        /// True if the client sent a time; without it there are no receipts (finding 18).
        package var statesTime: Bool
        /// The number of operations.
        package var operations: Int
        /// The way in which they reach the backend.
        package var style: Style
        /// True if a ledger is kept, so that the ids have to be noted (finding 14).
        package var notes: Bool
        /// True if the stream is searched for conflicts before anything is applied; only with a time there is something
        /// to compare with.
        package var checks: Bool
        /// The number of times that a stream push with an unknown outcome is repeated, with the same idempotency key.
        package var attempts: Int
        /// The pause before the first of these, doubled each time, in milliseconds.
        package var backoff: Int64
        /// The time for which operations that were put off are tried again, altogether, in milliseconds.
        package var retryBudget: Int64
        /// The treatment of a record that the backend will never take.
        package var rejection: RejectedRecordRule
        /// The ranges of operations that do not depend on each other, for calls.
        package var levels: [Range<Int>]
        /// The number of calls that run at the same time.
        package var parallel: Int
        /// The most operations in one request of a stream push; zero is all of them.
        package var batch: Int

        /// Creates a push; without levels its operations all depend on each other.
        package init(
            presented: Cursor?, statesTime: Bool, operations: Int, style: Style, notes: Bool = false,
            checks: Bool = false, attempts: Int = 3, backoff: Int64 = 200, retryBudget: Int64 = 0,
            rejection: RejectedRecordRule = .fail, levels: [Range<Int>]? = nil, parallel: Int = 1, batch: Int = 0
        ) {
            self.levels = levels ?? (0..<operations).map { $0..<$0 + 1 }
            self.parallel = parallel
            self.batch = batch
            self.retryBudget = retryBudget
            self.rejection = rejection
            self.presented = presented
            self.statesTime = statesTime
            self.operations = operations
            self.style = style
            self.notes = notes
            self.checks = checks
            self.attempts = attempts
            self.backoff = backoff
        }

        /// Returns true if a refusal ends the push, instead of being left behind.
        ///
        /// Orphans do not, whatever the rule: the app cannot show them, so they would block its pushes for ever.
        func ends(with refusal: PushRefusal) -> Bool {
            refusal.kind != .rejected || rejection == .fail && !refusal.isOfOrphans
        }

        /// True if what is left behind goes into quarantine.
        var quarantines: Bool { rejection != .report }

        /// Returns true if a refusal is about operations of this push.
        func fits(_ refusal: PushRefusal) -> Bool {
            refusal.records.allSatisfy { (0..<operations).contains($0.index) }
        }

        /// The end of a successful push: without a time there are no receipts.
        var success: PushAction { statesTime ? .saveReceipt : .answer }
    }
}
