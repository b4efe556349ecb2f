// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// A push under way: what it goes out from, and how far it has got.
struct PushCourse: Sendable {
    /// How the operations go out.
    enum Sending: Sendable {
        case stream(StreamSending)
        case calls(CallBatches)
    }

    /// The row of the presented cursor.
    let row: CursorRow?
    var sending: Sending
    var patience = RetryPatience()

    /// A push that nothing has been sent of.
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

    /// Takes it that nobody will hear what became of what is under way.
    mutating func abandon() {
        guard case .calls(var calls) = sending else { return }
        calls.abandon()
        sending = .calls(calls)
    }
}

/// How far a stream push has got.
struct StreamSending: Sendable {
    /// The first operation whose outcome is open.
    private(set) var next = 0
    /// How often it was sent again because its outcome was unknown.
    var attempt = 0
    /// How often it was sent again without what was refused, and when that began.
    var rounds = 0
    var firstRound: Int64?

    /// The operations that are sent at present, in the order in which they can be applied: so a batch has what it
    /// refers to in it or behind it.
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

/// How long what was put off is waited for.
struct RetryPatience: Sendable {
    /// How often in a row something was put off.
    private var retries = 0
    /// How long the push has waited altogether, in milliseconds.
    private var waited: Int64 = 0

    /// How long to wait before it is tried again; nil where the budget does not hold that.
    mutating func pause(_ after: Int64?, _ query: PushMachine.Query) -> Int64? {
        let pause = max(after ?? 0, query.backoff << Int64(min(retries, 6)))
        guard pause <= query.retryBudget - waited else { return nil }
        waited += pause
        retries += 1
        return pause
    }

    /// Something was applied: the next pause is as short as the first.
    mutating func relax() { retries = 0 }
}

/// What is known of a push's operations.
struct PushOutcome: Sendable {
    /// The places of the operations that the backend will never take.
    var rejected: Set<Int> = []
    /// The places of the operations that the backend is known to have applied.
    var taken: Set<Int> = []
    /// Whether an answer has once left open what was applied, whatever a later attempt was told.
    var wasUncertain = false
}
