// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The batches of a push by calls: which calls run at the same time, and what is to be written to the journal.
struct CallBatches: Sendable {
    /// The outcome of one batch.
    struct Ended {
        var applied: [Int] = []
        var refusals: [PushRefusal] = []
        var hasFailed = false
        var isUncertain = false
    }

    /// The calls that were put off, and for how many milliseconds, if the backend has said so.
    struct Delay {
        var after: Int64?
    }

    /// The number of calls in a batch for each one that runs at the same time, and the least number.
    ///
    /// The journal takes a batch in one transaction.
    static let callBatchFactor = 16
    static let minimumCallBatch = 64

    private let levels: [Range<Int>]
    private let size: Int
    private var level = 0
    private var next = 0
    /// The operations of the present level that were put off or not begun.
    private var waiting: [Int] = []

    /// The operations that are sent next.
    private(set) var callBatch: [Int] = []
    /// The knowledge of the journal; nil before there is one.
    private(set) var journal: JournalProgress?
    /// The operations that may have been applied; once unknown, an operation stays unknown even if its last attempt was
    /// put off.
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
        journal = JournalProgress()
        gather()
    }

    /// Returns true if the results are those of the batch, so that it ends.
    func fits(_ results: [Int: CallResult], _ query: PushMachine.Query) -> Bool {
        let isAboutCallBatch = callBatch.contains { results[$0] != nil }
        return isAboutCallBatch
            && results.allSatisfy { index, result in
                guard case .refused(let refusal) = result else { return true }
                // Whatever goes on must know that this one is refused.
                let isNamed = query.rejection == .fail || refusal.records.contains { $0.index == index }
                return isNamed && query.fits(refusal)
            }
    }

    /// Counts all operations of the batch as unknown.
    mutating func abandon() {
        unknown.formUnion(callBatch)
        callBatch = []
    }

    /// Takes what became of the batch.
    mutating func end(_ results: [Int: CallResult]) -> Ended {
        var ended = Ended()
        delay = nil
        for index in callBatch {
            guard let result = results[index] else {
                waiting.append(index)
                continue
            }
            switch result {
            case .applied, .recorded:
                unknown.remove(index)
                ended.applied.append(index)
                if result == .applied { journal?.unwritten.applied.append(index) }
            case .refused(let refusal):
                unknown.remove(index)
                ended.refusals.append(refusal)
            case .notNow(let after, let isKnown):
                waiting.append(index)
                delay = Delay(after: Self.later(delay?.after, after))
                if !isKnown { unknown.insert(index) }
            // In the journal, an operation without its id is still in flight: its outcome counts as unknown here, too.
            case .unknown, .unrecorded:
                ended.isUncertain = true
                unknown.insert(index)
            case .failed: ended.hasFailed = true
            }
        }
        callBatch = []
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

    /// Counts operations that the backend will never take.
    mutating func reject(_ indices: [Int]) { journal?.unwritten.rejected += indices }

    /// Begins the transaction that the journal needs before the batch is sent; nil if it needs none.
    mutating func write() -> (outcomes: JournalProgress.Outcomes, inFlight: [Int])? {
        // At the end of the push the last transaction tells the rest.
        callBatch.isEmpty ? nil : journal?.write(before: callBatch)
    }

    /// Takes note that the transaction is durable.
    mutating func written() { journal?.written() }

    private static func later(_ a: Int64?, _ b: Int64?) -> Int64? {
        guard let a, let b else { return a ?? b }
        return max(a, b)
    }
}
