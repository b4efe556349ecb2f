// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension MemoryStateStore: JournalAdmin {
    /// Opens a journal and writes notes.
    package func beginPush(_ opening: JournalOpening, principal: Principal, at now: Instant) async throws -> Int64 {
        try await write { contents in
            try contents.withOwner(principal, at: now) { try $0.notes.write(opening.notes, at: now) }
            return contents.journals.begin(opening, of: principal, at: now)
        }
    }

    /// Writes a step.
    package func advance(_ step: JournalStep, of journal: Int64, at now: Instant) async throws {
        try await write { try $0.write(step, of: journal, at: now) }
    }

    /// Writes the last step and the end of the push.
    package func endPush(_ end: JournalEnd, of journal: Int64, at now: Instant) async throws {
        try await write { contents in
            let limits = contents.limits
            if let kept = end.receipt, kept.receipt.body.count > limits.receiptBytes {
                throw StateError.tooLarge("answer of the push")
            }
            let principal = try contents.journals.open(journal).journal.principal
            try contents.write(end.step, of: journal, at: now)
            if let kept = end.receipt {
                try contents.owners[principal]?.save(kept, limit: limits.receiptsPerPrincipal, at: now)
            }
            try contents.journals.end(journal, end)
            if end.failure != nil { contents.journals.thin(principal, to: limits.journalsPerPrincipal) }
        }
    }

    /// Returns open journals.
    package func openJournals(
        of principal: Principal
    ) async throws -> [(journal: PushJournal, inFlight: [InFlightOperation])] {
        try await read { contents in
            contents.journals.all.filter { $0.journal.principal == principal && $0.journal.state == .open }
                .map { ($0.journal, $0.operations) }
        }
    }

    /// Counts an attempt to close a journal.
    package func countTry(of journal: Int64, at now: Instant) async throws -> (tries: Int, since: Instant) {
        try await write { contents in
            guard var found = contents.journals.journals[journal] else { return (0, now) }
            if found.journal.state == .open {
                found.tries += 1
                found.triedAt = found.triedAt ?? now
                contents.journals.journals[journal] = found
            }
            return (found.tries, found.triedAt ?? now)
        }
    }

    /// Forgets the request of an operation.
    package func giveUp(_ index: Int, of journal: Int64) async throws {
        try await write { contents in
            guard contents.journals.journals[journal]?.inFlight[index] != nil else { return }
            contents.journals.journals[journal]?.inFlight[index]?.request = nil
            contents.journals.journals[journal]?.givenUp.insert(index)
        }
    }

    /// Searches for a request of the record that was given up.
    package func wasGivenUp(_ record: PushedRecordKey, of principal: Principal) async throws -> Bool {
        try await look { contents in
            contents.journals.all.contains { journal in
                journal.journal.principal == principal
                    && journal.givenUp.contains { journal.inFlight[$0]?.record == record }
            }
        }
    }

    /// Returns the ids that pulls translate.
    package func mappedIDs(
        _ ids: Set<String>, in table: String, of principal: Principal
    ) async throws -> Set<String> {
        try await read { contents in
            let table = try key(table, "table")
            let map = try contents.owner(principal)?.ids
            return ids.filter { map?.publicMapping(of: PushedRecordKey(table: table, id: $0)) != nil }
        }
    }

    /// Closes a journal.
    package func closeJournal(_ journal: Int64, with closure: JournalClosure, at now: Instant) async throws {
        try await write { contents in
            guard let principal = try? contents.journals.open(journal).journal.principal else { return }
            try contents.owners[principal]?.notes.write(closure.notes, at: now)
            _ = try contents.owners[principal]?.ids.save(closure.mappings)
            contents.journals.close(journal, with: closure, at: now)
            contents.journals.thin(principal, to: contents.limits.journalsPerPrincipal)
        }
    }

    /// Returns journals in the order of their numbers.
    package func journals(of principal: Principal?, after: Int64, limit: Int) async throws -> [PushJournal] {
        try await read { contents in
            contents.journals.all.map(\.journal)
                .filter { $0.id > after && $0.principal.isOf(principal) }
                .prefix(page(limit)).map(\.self)
        }
    }

    /// Finds one journal.
    package func journal(_ id: Int64) async throws -> (journal: PushJournal, inFlight: [InFlightOperation])? {
        try await read { $0.journals.journals[id].map { ($0.journal, $0.operations) } }
    }
}

extension Contents {
    /// Writes a step of an open journal.
    fileprivate mutating func write(_ step: JournalStep, of journal: Int64, at now: Instant) throws {
        let principal = try journals.open(journal).journal.principal
        try journals.write(step, of: journal, at: now)
        try owners[principal]?.notes.write(step.notes, at: now)
        _ = try owners[principal]?.ids.save(step.mappings)
    }
}
