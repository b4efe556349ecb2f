// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Keeps pushes by calls while they are in progress, and those that were interrupted or failed.
struct Journals: Sendable {
    struct Journal: Sendable {
        var journal: PushJournal
        /// The in-flight operations by their indices in the push.
        var inFlight: [Int: InFlightOperation] = [:]
        var givenUp: Set<Int> = []
        /// The number of failed attempts to close the journal; `triedAt` is the time of the first.
        var tries = 0
        var triedAt: Instant?

        var operations: [InFlightOperation] { inFlight.values.sorted { $0.index < $1.index } }
    }

    private var last: Int64 = 0
    var journals: [Int64: Journal] = [:]

    /// The journals in the order of their numbers.
    var all: [Journal] { journals.values.sorted { $0.journal.id < $1.journal.id } }

    mutating func begin(_ opening: JournalOpening, of principal: Principal, at now: Instant) -> Int64 {
        last += 1
        journals[last] = Journal(
            journal: PushJournal(
                id: last, principal: principal, presented: opening.presented, startedAt: now, changedAt: now,
                state: .open, operations: opening.operations))
        return last
    }

    /// Returns a journal that is open.
    func open(_ id: Int64) throws(StateError) -> Journal {
        guard let journal = journals[id], journal.journal.state == .open else { throw .journalClosed }
        return journal
    }

    mutating func write(_ step: JournalStep, of id: Int64, at now: Instant) throws(StateError) {
        var journal = try open(id)
        for index in step.applied + step.rejected { journal.inFlight[index] = nil }
        for operation in step.inFlight {
            _ = try key(operation.record.table, "table")
            journal.inFlight[operation.index] = operation
            journal.givenUp.remove(operation.index)
        }
        journal.journal.applied += step.applied.count
        journal.journal.rejected += step.rejected.count
        journal.journal.changedAt = max(journal.journal.changedAt, now)
        journals[id] = journal
    }

    /// Deletes a journal that is no longer needed, or else records how its push has ended.
    mutating func end(_ id: Int64, _ end: JournalEnd) throws(StateError) {
        var journal = try open(id)
        journal.inFlight = journal.inFlight.filter { end.unknown.contains($0.key) }
        guard var failure = end.failure, journal.journal.applied > 0 || !journal.inFlight.isEmpty else {
            journals[id] = nil
            return
        }
        failure.message = failure.message.map { remark($0, limit: 1_024) }
        journal.journal.failure = failure
        journal.journal.state = journal.inFlight.values.contains(where: \.makesID) ? .open : .failed
        journals[id] = journal
    }

    mutating func close(_ id: Int64, with closure: JournalClosure, at now: Instant) {
        guard var journal = try? open(id) else { return }
        journal.journal.state = .closed
        journal.journal.changedAt = max(journal.journal.changedAt, now)
        journal.journal.applied += closure.mappings.count
        journal.journal.found = closure.mappings.count
        journal.journal.lost = closure.lost
        // Records are kept no longer than they are needed.
        journal.inFlight = journal.inFlight.mapValues { operation in
            var operation = operation
            (operation.request, operation.sought) = (nil, nil)
            return operation
        }
        journals[id] = journal
    }

    /// Deletes the oldest journals of a principal over a limit, except open ones.
    mutating func thin(_ principal: Principal, to limit: Int) {
        let ended = all.filter { $0.journal.principal == principal && $0.journal.state != .open }
        for journal in ended.dropLast(max(1, limit)) { journals[journal.journal.id] = nil }
    }

    /// Deletes journals of pushes that ended long ago, and open ones that have not changed for still longer.
    mutating func collect(before: Instant, openBefore: Instant) -> Int {
        let count = journals.count
        journals = journals.filter {
            $0.value.journal.changedAt >= ($0.value.journal.state == .open ? openBefore : before)
        }
        return count - journals.count
    }
}
