// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension AccountStore {
    package func pushNotes(
        of principal: Principal, after sequence: Int64, madeSince time: Instant, limit: Int
    ) async throws -> [PushNote] {
        try await accounts.read(principal) {
            try NoteRules.notes(after: sequence, madeSince: time, limit: limit, of: &$0)
        }
    }

    package func hasMorePushNotes(
        than limit: Int, of principal: Principal, after sequence: Int64
    ) async throws -> Bool {
        let limit = max(0, limit)
        return try await pushNotes(of: principal, after: sequence, madeSince: .earliest, limit: limit + 1).count > limit
    }

    package func note(_ notes: [PushNote], principal: Principal, at now: Instant) async throws {
        try await accounts.change(principal) { try NoteRules.write(notes, at: now, in: &$0) }
    }

    package func beginNotes(of principal: Principal) async throws -> Int64 {
        while try await accounts.change(principal, { try NoteRules.makeRoom(in: &$0) }) {}
        return try await accounts.read(principal) { try $0.head()?.noteSequence ?? 0 }
    }

    package func dropNotes(of principal: Principal, after sequence: Int64) async throws {
        var next: Int64? = sequence
        while let after = next {
            next = try await accounts.change(principal) { try NoteRules.dropFresh(after: after, in: &$0) }
        }
    }

    package func redeliveries(of replica: ReplicaID, at cursor: Cursor, limit: Int) async throws -> [PendingRedelivery]
    {
        guard let principal = try await principal(of: replica) else { return [] }
        return try await accounts.read(principal) { account in
            guard let known = try account.replica(replica) else { return [] }
            let pending = try RedeliveryRules.pending(for: known, at: cursor, of: &account)
            return Array(pending.prefix(max(0, limit)))
        }
    }

    package func scheduleRedelivery(
        _ redeliveries: [PendingRedelivery], to replica: ReplicaID, at now: Instant
    ) async throws {
        _ = try await change(replica) { try RedeliveryRules.schedule(redeliveries, to: replica, at: now, in: &$0) }
    }

    package func dropRedeliveries(_ redeliveries: [PendingRedelivery], of replica: ReplicaID) async throws {
        _ = try await change(replica) { try RedeliveryRules.drop(redeliveries, of: replica, in: &$0) }
    }
}

extension AccountStore: IDMapStore {
    package func idMappings(of principal: Principal, after sequence: Int64, limit: Int) async throws
        -> [StoredIDMapping]
    {
        try await accounts.read(principal) {
            try IDRules.mappings(after: sequence, limit: page(limit), of: &$0)
        }
    }

    package func saveMappings(_ mappings: [IDMapping], principal: Principal, at now: Instant) async throws
        -> [IDMapping]
    {
        try await accounts.change(principal) { try IDRules.save(mappings, at: now, in: &$0) }
    }

    package func idMappings(of principal: Principal, table: String, id: String) async throws -> [StoredIDMapping] {
        try await accounts.read(principal) { Array(try IDRules.mappings(with: id, in: table, of: &$0).prefix(100)) }
    }

    package func unmappedPushes(_ ids: [IDMapping], of principal: Principal) async throws -> [IDMapping] {
        try await accounts.read(principal) { try IDRules.unmapped(ids, of: &$0) }
    }

    package func mappedIDs(_ ids: Set<String>, in table: String, of principal: Principal) async throws -> Set<String> {
        try await accounts.read(principal) { try IDRules.mapped(ids, in: table, of: &$0) }
    }
}

extension AccountStore: JournalStore, JournalAdmin {
    package func beginPush(_ opening: JournalOpening, principal: Principal, at now: Instant) async throws -> Int64 {
        try await accounts.change(principal) { try JournalRules.begin(opening, at: now, in: &$0) }
    }

    package func advance(_ step: JournalStep, of journal: Int64, at now: Instant) async throws {
        guard let principal = try await index.principal(ofRow: .journal, journal)?.principal else {
            throw StateError.journalClosed
        }
        try await accounts.change(principal) { try JournalRules.advance(step, of: journal, at: now, in: &$0) }
    }

    package func endPush(_ end: JournalEnd, of journal: Int64, at now: Instant) async throws {
        guard let principal = try await index.principal(ofRow: .journal, journal)?.principal else {
            throw StateError.journalClosed
        }
        try await accounts.change(principal) { try JournalRules.end(end, of: journal, at: now, in: &$0) }
    }

    package func openJournals(
        of principal: Principal
    ) async throws -> [(journal: PushJournal, inFlight: [InFlightOperation])] {
        try await accounts.read(principal) { account in
            try (account.head()?.openJournals ?? []).sorted().compactMap {
                try JournalRules.journal($0, of: &account)
            }
        }
    }

    package func countTry(of journal: Int64, at now: Instant) async throws -> (tries: Int, since: Instant) {
        guard let principal = try await index.principal(ofRow: .journal, journal)?.principal else { return (0, now) }
        return try await accounts.change(principal) { try JournalRules.countTry(of: journal, at: now, in: &$0) }
    }

    package func giveUp(_ index: Int, of journal: Int64) async throws {
        guard let principal = try await self.index.principal(ofRow: .journal, journal)?.principal else { return }
        try await accounts.change(principal) { try JournalRules.giveUp(index, of: journal, in: &$0) }
    }

    package func wasGivenUp(_ record: PushedRecordKey, of principal: Principal) async throws -> Bool {
        try await accounts.look(principal) { try JournalRules.wasGivenUp(record, of: &$0) }
    }

    package func closeJournal(_ journal: Int64, with closure: JournalClosure, at now: Instant) async throws {
        guard let principal = try await index.principal(ofRow: .journal, journal)?.principal else { return }
        try await accounts.change(principal) { try JournalRules.close(journal, with: closure, at: now, in: &$0) }
    }

    package func journals(of principal: Principal?, after: Int64, limit: Int) async throws -> [PushJournal] {
        let wanted = try await index.principals(behind: principal)
        let rows: [ByteRow]
        if let wanted {
            let found = try await store.load(wanted.map { .all(.journal, of: $0.owner) }).joined()
            rows = Array(found.filter { $0.number > after }.sorted { $0.number < $1.number }.prefix(page(limit)))
        } else {
            rows = try await store.load([
                .all(
                    .journal, by: .number, after: Lookup.Mark(after, tie: .max), limit: page(limit),
                    descending: false)
            ])[0]
        }
        let names = try await index.principals(of: Set(rows.map(\.key.owner)))
        return try rows.compactMap { row in try names[row.key.owner].map { try JournalRules.journal(row, of: $0) } }
    }

    package func journal(_ id: Int64) async throws -> (journal: PushJournal, inFlight: [InFlightOperation])? {
        guard let principal = try await index.principal(ofRow: .journal, id)?.principal else { return nil }
        return try await accounts.read(principal) { try JournalRules.journal(id, of: &$0) }
    }
}

/// Returns the number of rows to list: at most 10,000.
func page(_ limit: Int) -> Int { min(max(0, limit), 10_000) }
