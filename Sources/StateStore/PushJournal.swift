// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A push by calls as the state keeps it, while it runs and after it was interrupted or failed.
package struct PushJournal: Hashable, Sendable {
    /// The stage of the push.
    package enum State: String, CaseIterable, Hashable, Sendable {
        /// The push runs, or the gateway was stopped while it ran, or the backend's id of a created record is unknown.
        case open
        /// The push has ended, and its client was told that not everything was applied.
        case failed
        /// The journal was open when the principal came again, and push recovery has closed it.
        case closed
    }

    /// The reason why a push failed.
    package struct Failure: Hashable, Sendable {
        /// The stable code that the client received.
        package var code: String
        /// The backend's message, cut.
        package var message: String?
        /// The first record that the failure is about.
        package var record: PushedRecordKey?
        /// Creates a failure.
        package init(code: String, message: String? = nil, record: PushedRecordKey? = nil) {
            self.code = code
            self.message = message
            self.record = record
        }
    }

    /// The journal's number.
    package var id: Int64
    /// The principal that made the push.
    package var principal: Principal
    /// The cursor that came with the push.
    package var presented: Cursor?
    /// The time at which the push began.
    package var startedAt: Instant
    /// The time of the journal's last change.
    package var changedAt: Instant
    /// The stage of the push.
    package var state: State
    /// The number of operations in the push.
    package var operations: Int
    /// The number of operations that were applied.
    package var applied = 0
    /// The number of operations that the backend will never accept.
    package var rejected = 0
    /// The number of creates that were found when the journal was closed.
    package var found = 0
    /// The number of creates that were not found when the journal was closed: their outcome is unknown.
    package var lost = 0
    /// The reason for the failure; nil while the push runs, or if the gateway was stopped.
    package var failure: Failure?
}

extension PushJournal {
    /// True if nothing of the journal can be read: apart from its number, principal and state, it says nothing.
    package var isDamaged: Bool { failure?.code == Coder.damage.code }

    /// Creates a journal in place of one that cannot be read; its failure says so.
    package init(damaged row: ByteRow, of principal: Principal, isOpen: Bool) {
        self.init(
            id: row.number, principal: principal, presented: nil, startedAt: 0, changedAt: 0,
            state: isOpen ? .open : .failed, operations: 0, failure: Failure(code: Coder.damage.code))
    }
}

/// An operation that was or is about to be sent and whose outcome is unknown.
package struct InFlightOperation: Hashable, Sendable {
    /// A request that may be repeated.
    package struct Request: Hashable, Sendable {
        /// The HTTP method.
        package var method: String
        /// The path below the backend's URL.
        package var target: String
        /// The body, if it has one.
        package var body: [UInt8]?
        /// The idempotency key by which the backend recognises a repetition.
        package var key: String
        /// Creates a request.
        package init(method: String, target: String, body: [UInt8]?, key: String) {
            self.method = method
            self.target = target
            self.body = body
            self.key = key
        }
    }

    /// The operation's index in its push.
    package var index: Int
    /// The kind of change that the operation makes.
    package var kind: OperationKind
    /// The record that the operation changes.
    package var record: PushedRecordKey
    /// True if the backend gives the record an id of its own, which then has to be found out.
    package var makesID: Bool
    /// The request; nil if the backend cannot recognise a repetition.
    package var request: Request?
    /// The values by which the record is looked for in the stream, as JSON.
    package var sought: [UInt8]?

    /// Creates an in-flight operation.
    package init(
        index: Int, kind: OperationKind, record: PushedRecordKey, makesID: Bool = false, request: Request? = nil,
        sought: [UInt8]? = nil
    ) {
        self.index = index
        self.kind = kind
        self.record = record
        self.makesID = makesID
        self.request = request
        self.sought = sought
    }
}

/// The progress of a running push that one transaction writes.
package struct JournalStep: Hashable, Sendable {
    /// The indices of operations that were applied.
    package var applied: [Int] = []
    /// The indices of operations that the backend will never accept.
    package var rejected: [Int] = []
    /// The notes of the records of both.
    package var notes: [PushNote] = []
    /// The ids that the backend has given.
    package var mappings: [IDMapping] = []
    /// The operations that are about to be sent.
    package var inFlight: [InFlightOperation] = []
    /// Creates an empty step.
    package init() {}

    /// True if there is nothing to write.
    package var isEmpty: Bool {
        applied.isEmpty && rejected.isEmpty && notes.isEmpty && mappings.isEmpty && inFlight.isEmpty
    }

    /// Appends the contents of another step.
    package mutating func append(_ other: JournalStep) {
        applied += other.applied
        rejected += other.rejected
        notes += other.notes
        mappings += other.mappings
        inFlight += other.inFlight
    }
}

/// The end of a push.
package struct JournalEnd: Hashable, Sendable {
    /// The progress that was not written yet.
    package var step: JournalStep
    /// The reason for the failure; nil for success.
    package var failure: PushJournal.Failure?
    /// The indices of operations that may have been applied.
    package var unknown: [Int]
    /// The answer, if it is kept.
    package var receipt: Receipt?
    /// Creates an end.
    package init(
        step: JournalStep, failure: PushJournal.Failure? = nil, unknown: [Int] = [], receipt: Receipt? = nil
    ) {
        self.step = step
        self.failure = failure
        self.unknown = unknown
        self.receipt = receipt
    }
}

/// The results with which an open journal is closed.
package struct JournalClosure: Hashable, Sendable {
    /// The ids of creates that were found.
    package var mappings: [IDMapping] = []
    /// The notes that mark their records as held.
    package var notes: [PushNote] = []
    /// The number of creates that were not found, so that their outcome remains unknown.
    package var lost = 0
    /// Creates an empty closure.
    package init() {}
}
