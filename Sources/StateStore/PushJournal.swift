// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// A push by calls as the state keeps it, while it runs and where it came to no good end.
package struct PushJournal: Hashable, Sendable {
    /// Where it stands.
    package enum State: String, CaseIterable, Hashable, Sendable {
        /// It runs, or the gateway was stopped while it ran, or of a creation nobody knows which id it has been given.
        case open
        /// It has ended, and its client heard that not everything was applied.
        case failed
        /// It was open when the principal came again, and what was left open is resolved.
        case closed
    }

    /// Why it came to no good end.
    package struct Failure: Hashable, Sendable {
        /// The stable code that the client heard.
        package var code: String
        /// What the backend said, cut.
        package var message: String?
        /// The first record that it is about.
        package var record: PushedRecordKey?
        /// A failure.
        package init(code: String, message: String? = nil, record: PushedRecordKey? = nil) {
            self.code = code
            self.message = message
            self.record = record
        }
    }

    /// Its number.
    package var id: Int64
    /// Whose push it is.
    package var principal: Principal
    /// The cursor that came with it.
    package var presented: Cursor?
    /// When it began.
    package var startedAt: Int64
    /// When anything was last written of it.
    package var changedAt: Int64
    /// Where it stands.
    package var state: State
    /// How many operations it has.
    package var operations: Int
    /// How many of them were applied.
    package var applied: Int
    /// How many the backend will never take.
    package var rejected: Int
    /// How many creations were found when it was closed.
    package var found: Int
    /// Of how many nobody knows whether they have happened.
    package var lost: Int
    /// Why it came to no good end; nil while it runs, or where the gateway was stopped.
    package var failure: Failure?

    /// A journal.
    package init(
        id: Int64, principal: Principal, presented: Cursor?, startedAt: Int64, changedAt: Int64, state: State,
        operations: Int, applied: Int = 0, rejected: Int = 0, found: Int = 0, lost: Int = 0, failure: Failure? = nil
    ) {
        self.id = id
        self.principal = principal
        self.presented = presented
        self.startedAt = startedAt
        self.changedAt = changedAt
        self.state = state
        self.operations = operations
        self.applied = applied
        self.rejected = rejected
        self.found = found
        self.lost = lost
        self.failure = failure
    }
}

/// An operation that was or is about to be sent, and of which nobody knows yet what became of it.
package struct InFlightOperation: Hashable, Sendable {
    /// What the operation does.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case create, update, delete
    }

    /// A request, to be made once more.
    package struct Request: Hashable, Sendable {
        /// The HTTP method.
        package var method: String
        /// The path below the backend's URL.
        package var target: String
        /// The body, if it has one.
        package var body: [UInt8]?
        /// The key by which the backend knows a repetition.
        package var key: String
        /// A request.
        package init(method: String, target: String, body: [UInt8]?, key: String) {
            self.method = method
            self.target = target
            self.body = body
            self.key = key
        }
    }

    /// The operation's place in its push.
    package var place: Int
    /// What it does.
    package var kind: Kind
    /// What it is about.
    package var record: PushedRecordKey
    /// Whether the backend gives the record an id of its own, so that it must be found out which.
    package var makesID: Bool
    /// The request, where the backend can tell that it comes a second time.
    package var request: Request?
    /// The values by which the record is looked for in the stream, as JSON.
    package var sought: [UInt8]?

    /// An in-flight operation.
    package init(
        place: Int, kind: Kind, record: PushedRecordKey, makesID: Bool = false, request: Request? = nil,
        sought: [UInt8]? = nil
    ) {
        self.place = place
        self.kind = kind
        self.record = record
        self.makesID = makesID
        self.request = request
        self.sought = sought
    }
}

/// A push that is about to begin.
package struct JournalOpening: Hashable, Sendable {
    /// The cursor that came with it.
    package var presented: Cursor?
    /// How many operations it has.
    package var operations: Int
    /// What is noted in the same transaction.
    package var notes: [PushNote]
    /// A push.
    package init(presented: Cursor?, operations: Int, notes: [PushNote]) {
        self.presented = presented
        self.operations = operations
        self.notes = notes
    }
}

/// What one transaction says of a running push.
package struct JournalStep: Hashable, Sendable {
    /// The places of operations that were applied.
    package var applied: [Int] = []
    /// The places of operations that the backend will never take.
    package var rejected: [Int] = []
    /// What is known of the records of both.
    package var notes: [PushNote] = []
    /// Ids that the backend has given.
    package var mappings: [IDMapping] = []
    /// What is about to be sent.
    package var inFlight: [InFlightOperation] = []
    /// Nothing yet.
    package init() {}

    /// Whether there is nothing to write.
    package var isEmpty: Bool {
        applied.isEmpty && rejected.isEmpty && notes.isEmpty && mappings.isEmpty && inFlight.isEmpty
    }

    /// Adds what another one says.
    package mutating func append(_ other: JournalStep) {
        applied += other.applied
        rejected += other.rejected
        notes += other.notes
        mappings += other.mappings
        inFlight += other.inFlight
    }
}

/// How a push ends.
package struct JournalEnd: Hashable, Sendable {
    /// The answer that is kept for a repeated request.
    package struct KeptReceipt: Hashable, Sendable {
        /// The answer.
        package var receipt: Receipt
        /// The digest of cursor and body, hexadecimal.
        package var digest: String
        /// When it ends.
        package var expiresAt: Int64
        /// A receipt.
        package init(receipt: Receipt, digest: String, expiresAt: Int64) {
            self.receipt = receipt
            self.digest = digest
            self.expiresAt = expiresAt
        }
    }

    /// What was not written yet.
    package var step: JournalStep
    /// Why it came to no good end; nil is success.
    package var failure: PushJournal.Failure?
    /// The places of operations that may have been applied.
    package var unknown: [Int]
    /// The answer, where it is kept.
    package var receipt: KeptReceipt?
    /// An end.
    package init(
        step: JournalStep, failure: PushJournal.Failure? = nil, unknown: [Int] = [], receipt: KeptReceipt? = nil
    ) {
        self.step = step
        self.failure = failure
        self.unknown = unknown
        self.receipt = receipt
    }
}

/// What closing an open journal has come to.
package struct JournalClosure: Hashable, Sendable {
    /// The ids of creations that were found.
    package var mappings: [IDMapping] = []
    /// Notes that their records are held.
    package var notes: [PushNote] = []
    /// How many creations were not found, so that nobody knows whether they have happened.
    package var lost = 0
    /// Nothing yet.
    package init() {}
}
