// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// A push under way: what it goes out from, and how far it has got.
struct PushCourse: Sendable {
    /// The way in which the operations go out.
    enum Sending: Sendable {
        case stream(StreamSending)
        case calls(CallBatches)
    }

    /// The row of the presented cursor.
    let row: CursorRow?
    var sending: Sending
    var patience = RetryPatience()

    /// Creates a push of which nothing has been sent.
    init(_ row: CursorRow?, _ query: PushMachine.Query) {
        self.row = row
        sending =
            switch query.style {
            case .stream: .stream(StreamSending())
            case .calls: .calls(CallBatches(levels: query.levels, parallel: query.parallel))
            }
    }

    /// The operations that may have been applied.
    var unknown: Set<Int> {
        switch sending {
        case .stream: []
        case .calls(let calls): calls.unknown
        }
    }

    /// The outcomes that the journal does not have yet.
    var unwritten: JournalProgress.Outcomes {
        switch sending {
        case .stream: JournalProgress.Outcomes()
        case .calls(let calls): calls.journal?.unwritten ?? JournalProgress.Outcomes()
        }
    }

    /// Takes note that a transaction of the journal is durable.
    mutating func written() {
        guard case .calls(var calls) = sending else { return }
        calls.written()
        sending = .calls(calls)
    }

    /// Counts the operations that are under way as unknown.
    mutating func abandon() {
        guard case .calls(var calls) = sending else { return }
        calls.abandon()
        sending = .calls(calls)
    }
}

/// The progress of a stream push.
struct StreamSending: Sendable {
    /// The first operation whose outcome is open.
    private(set) var next = 0
    /// The number of repetitions because of an unknown outcome.
    var attempt = 0
    /// The number of repetitions without refused operations, and the time at which they began.
    var rounds = 0
    var firstRound: Instant?

    /// Returns the operations that are sent at present, in the order in which they can be applied: so the records that
    /// a batch refers to are in it or in an earlier one.
    func batch(_ query: PushMachine.Query) -> Range<Int> {
        next..<min(next + (query.batch > 0 ? query.batch : query.operations), query.operations)
    }

    /// Goes on behind the batch.
    mutating func advance(_ query: PushMachine.Query) {
        self = StreamSending(next: batch(query).upperBound)
    }

    init() {}

    private init(next: Int) { self.next = next }
}

/// The budget of waiting for operations that were put off.
struct RetryPatience: Sendable {
    /// The number of times in a row that operations were put off.
    private var retries = 0
    /// The time that the push has waited altogether, in milliseconds.
    private var waited: Int64 = 0

    /// Returns the pause before the next attempt; nil if it is beyond the budget.
    mutating func pause(_ after: Int64?, _ query: PushMachine.Query) -> Int64? {
        let pause = max(after ?? 0, query.backoff << Int64(min(retries, 6)))
        guard pause <= query.retryBudget - waited else { return nil }
        waited += pause
        retries += 1
        return pause
    }

    /// Shortens the next pause to the first one, because an operation was applied.
    mutating func relax() { retries = 0 }
}

/// The known outcome of a push's operations.
struct PushOutcome: Sendable {
    /// The indices of the operations that the backend will never take.
    var rejected: Set<Int> = []
    /// The indices of the operations that the backend is known to have applied.
    var taken: Set<Int> = []
    /// True if an answer has once left open what was applied, even if a later attempt was refused.
    var wasUncertain = false
}
