// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

// A push by calls: batches of calls, and a journal of them (finding 19).
extension PushMachine {
    /// Takes what became of a batch of calls: what was applied counts whatever else happened.
    mutating func callBatchEnded(_ results: [Int: CallResult]) -> PushAction {
        let ended = calls.end(results)
        taken.formUnion(ended.applied)
        if !ended.applied.isEmpty { retries = 0 }
        // A refusal tells the client more than that something else is uncertain.
        for refusal in ended.refusals where refusal.kind != .rejected || query.rejection == .fail {
            return end(.refuse(refusal, applied: applied))
        }
        if ended.hasFailed { return end(.rethrow(applied: applied)) }
        if ended.isUncertain { return end(.fail(.unknownOutcome, applied: applied)) }
        guard let first = ended.refusals.first else { return nextCallBatch() }
        let refusal = PushRefusal(kind: first.kind, records: ended.refusals.flatMap(\.records))
        return query.rejection == .quarantine ? findRoom(refusal) : goOn(without: refusal)
    }

    /// Goes on with what was put off, after a pause, and with what comes next.
    mutating func nextCallBatch() -> PushAction {
        guard let delay = calls.delay else {
            calls.gather()
            return send()
        }
        guard let pause = pause(delay.after) else {
            return end(.fail(calls.unknown.isEmpty ? .busy : .unknownOutcome, applied: applied))
        }
        calls.gather()
        let (applied, inFlight) = calls.toWrite()
        guard applied.isEmpty, inFlight.isEmpty else {
            step = .advancing(pause: pause)
            return .advance(applied: applied, inFlight: inFlight)
        }
        step = .pausing
        return .sleep(pause)
    }

    /// The last transaction of the journal, with the receipt, then the answer.
    mutating func endJournal(_ action: PushAction) -> PushAction {
        let outcome: PushEnd.Outcome =
            switch action {
            case .refuse(let refusal, _): .refused(refusal)
            case .fail(let failure, _): .failed(failure)
            case .rethrow: .error
            default: .answered(keepsReceipt: action == .saveReceipt)
            }
        step = .endingJournal(action == .saveReceipt ? .answer : action)
        return .endJournal(PushEnd(outcome, applied: calls.takeUnwritten(), unknown: unknown))
    }
}

/// Which calls of a push are made at the same time, and what the journal has to be told of them.
struct CallBatches: Sendable {
    /// What one batch has come to.
    struct Ended {
        var applied: [Int] = []
        var refusals: [PushRefusal] = []
        var hasFailed = false
        var isUncertain = false
    }

    /// What was put off, and for how many milliseconds, where the backend has said so.
    struct Delay {
        var after: Int64?
    }

    /// How many calls a batch has for each one that is made at the same time, and how many at least.
    ///
    /// The journal takes a batch in one transaction.
    static let callBatchFactor = 16
    static let minimumCallBatch = 64

    private let levels: [Range<Int>]
    private let size: Int
    private var level = 0
    private var next = 0
    /// What of the present level was put off or not begun.
    private var waiting: [Int] = []
    private var flying: Set<Int> = []

    /// What is sent next.
    private(set) var callBatch: [Int] = []
    /// Whether there is a journal.
    private(set) var hasBegun = false
    /// What was applied since the last transaction.
    private var unwritten: [Int] = []
    /// What may have been applied: one that is put off is not less so for what is known of its last attempt.
    private(set) var unknown: Set<Int> = []
    /// Nil where nothing was put off.
    private(set) var delay: Delay?

    init(levels: [Range<Int>] = [], parallel: Int = 1) {
        self.levels = levels
        size = max(parallel * Self.callBatchFactor, Self.minimumCallBatch)
        next = levels.first?.lowerBound ?? 0
    }

    /// Begins with the first batch.
    mutating func begin() {
        hasBegun = true
        gather()
    }

    /// Whether results are about the batch, so that it comes to an end.
    func fits(_ results: [Int: CallResult], _ machine: PushMachine) -> Bool {
        let isAboutCallBatch = callBatch.contains { results[$0] != nil }
        return isAboutCallBatch
            && results.allSatisfy { place, result in
                guard case .refused(let refusal) = result else { return true }
                // Whatever goes on must know that this one is refused.
                let isNamed = machine.query.rejection == .fail || refusal.records.contains { $0.place == place }
                return isNamed && machine.fits(refusal)
            }
    }

    /// Takes it that nobody will hear what became of the batch.
    mutating func abandon() {
        unknown.formUnion(callBatch)
        callBatch = []
    }

    /// Takes what became of the batch.
    mutating func end(_ results: [Int: CallResult]) -> Ended {
        var ended = Ended()
        delay = nil
        for place in callBatch {
            guard let result = results[place] else {
                waiting.append(place)
                continue
            }
            switch result {
            case .applied:
                unknown.remove(place)
                ended.applied.append(place)
            case .refused(let refusal):
                unknown.remove(place)
                ended.refusals.append(refusal)
            case .notNow(let after, let isKnown):
                waiting.append(place)
                delay = Delay(after: Self.later(delay?.after, after))
                if !isKnown { unknown.insert(place) }
            case .unknown:
                ended.isUncertain = true
                unknown.insert(place)
            case .failed: ended.hasFailed = true
            }
        }
        callBatch = []
        unwritten += ended.applied
        return ended
    }

    /// Puts the next batch together: of one level, what waits first; empty at the end.
    mutating func gather() {
        callBatch = Array(waiting.prefix(size))
        waiting.removeFirst(callBatch.count)
        while level < levels.count, callBatch.count < size {
            let rest = next..<levels[level].upperBound
            guard rest.isEmpty else {
                let taken = rest.prefix(size - callBatch.count)
                callBatch += taken
                next = taken.upperBound
                return
            }
            guard callBatch.isEmpty, waiting.isEmpty, level + 1 < levels.count else { return }
            level += 1
            next = levels[level].lowerBound
        }
    }

    /// What the journal has to be told before the batch is sent; told once.
    mutating func toWrite() -> (applied: [Int], inFlight: [Int]) {
        // At the end of the push the last transaction tells the rest.
        guard !callBatch.isEmpty else { return ([], []) }
        let inFlight = callBatch.filter { !flying.contains($0) }
        flying = Set(callBatch)
        return (takeUnwritten(), inFlight)
    }

    /// What was applied since the last transaction; told once.
    mutating func takeUnwritten() -> [Int] {
        defer { unwritten = [] }
        return unwritten
    }

    private static func later(_ a: Int64?, _ b: Int64?) -> Int64? {
        guard let a, let b else { return a ?? b }
        return max(a, b)
    }
}
