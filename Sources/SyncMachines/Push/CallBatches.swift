// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

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
    func fits(_ results: [Int: CallResult], _ query: PushMachine.Query) -> Bool {
        let isAboutCallBatch = callBatch.contains { results[$0] != nil }
        return isAboutCallBatch
            && results.allSatisfy { place, result in
                guard case .refused(let refusal) = result else { return true }
                // Whatever goes on must know that this one is refused.
                let isNamed = query.rejection == .fail || refusal.records.contains { $0.place == place }
                return isNamed && query.fits(refusal)
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
