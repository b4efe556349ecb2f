// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Keeps what the journal of a push by calls does not know yet.
struct JournalProgress: Sendable {
    /// Operations whose outcome is certain.
    struct Outcomes: Sendable {
        var applied: [Int] = []
        var rejected: [Int] = []
    }

    /// The outcomes that are not durable yet.
    var unwritten = Outcomes()
    /// Those of them that are being written.
    private var beingWritten = Outcomes()
    /// The operations that are noted as in flight.
    private var flying: Set<Int> = []

    /// Begins the transaction that is needed before these operations are sent; nil if none is.
    mutating func write(before batch: [Int]) -> (outcomes: Outcomes, inFlight: [Int])? {
        let inFlight = batch.filter { !flying.contains($0) }
        flying = Set(batch)
        // What will never be applied can wait for the next transaction.
        guard !unwritten.applied.isEmpty || !inFlight.isEmpty else { return nil }
        beingWritten = unwritten
        return (beingWritten, inFlight)
    }

    /// Takes note that the transaction is durable.
    mutating func written() {
        unwritten.applied.removeFirst(beingWritten.applied.count)
        unwritten.rejected.removeFirst(beingWritten.rejected.count)
        beingWritten = Outcomes()
    }
}

extension PushEnd {
    /// Creates an end with the outcomes that the journal does not have yet.
    init(_ outcome: Outcome, _ unwritten: JournalProgress.Outcomes, unknown: [Int]) {
        self.init(outcome, applied: unwritten.applied, rejected: unwritten.rejected.sorted(), unknown: unknown)
    }
}
