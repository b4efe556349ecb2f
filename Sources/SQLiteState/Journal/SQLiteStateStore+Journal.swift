// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore {
    /// Opens a journal in one transaction.
    package func beginPush(_ opening: JournalOpening, principal: Principal, at now: Instant) async throws -> Int64 {
        try await write { db in
            let owner = try db.ensurePrincipal(principal, at: now)
            try db.write(opening.notes, of: owner, at: now)
            try db.run(
                """
                INSERT INTO push_journal (principal, presented, started_at, changed_at, state, operations)
                VALUES (?1, ?2, ?3, ?3, 'open', ?4)
                """, [owner, opening.presented?.rawValue, now, opening.operations])
            return db.lastInsertedRowID
        }
    }

    /// Writes a step in one transaction.
    package func advance(_ step: JournalStep, of journal: Int64, at now: Instant) async throws {
        try await write { db in _ = try db.write(step, of: journal, at: now) }
    }

    /// Writes the end of a push in one transaction.
    package func endPush(_ end: JournalEnd, of journal: Int64, at now: Instant) async throws {
        if let receipt = end.receipt, receipt.receipt.body.count > limits.receiptBytes {
            throw StateError.tooLarge("answer of the push")
        }
        let (receipts, failed) = (max(1, limits.receiptsPerPrincipal), max(1, limits.journalsPerPrincipal))
        try await write { db in
            let owner = try db.write(end.step, of: journal, at: now)
            if let kept = end.receipt { try db.save(kept, of: owner, limit: receipts, at: now) }
            try db.end(journal, end, at: now)
            if end.failure != nil { try db.thinJournals(of: owner, limit: failed) }
        }
    }

    /// Returns a principal's open journals by one index range, and each journal's in-flight operations.
    package func openJournals(
        of principal: Principal
    ) async throws -> [(journal: PushJournal, inFlight: [InFlightOperation])] {
        try await readSeldom(
            of: principal, where: "EXISTS (SELECT 1 FROM push_journal WHERE principal = p.id AND state = 'open')"
        ) { db, owner in
            try db.rows(
                """
                SELECT \(PushJournal.columns) FROM push_journal j JOIN principal p ON p.id = j.principal
                WHERE j.principal = ? AND j.state = 'open' ORDER BY j.id
                """, [owner]
            ).map { row in
                let journal = try PushJournal(row)
                return try (journal, db.inFlight(of: journal.id))
            }
        } ?? []
    }

    /// Counts an attempt in one transaction; an attempt for a closed journal is not counted.
    package func countTry(of journal: Int64, at now: Instant) async throws -> (tries: Int, since: Instant) {
        try await write { db in
            try db.run(
                """
                UPDATE push_journal SET tries = tries + 1, tried_at = coalesce(tried_at, ?2)
                WHERE id = ?1 AND state = 'open'
                """, [journal, now])
            guard let row = try db.row("SELECT tries, tried_at FROM push_journal WHERE id = ?", [journal]) else {
                return (0, now)
            }
            return try (Int(row.number(0)), row.optionalInstant(1) ?? now)
        }
    }

    /// Updates one row.
    package func giveUp(_ index: Int, of journal: Int64) async throws {
        try await write { db in
            try db.run(
                """
                UPDATE push_flight SET given_up = 1, idempotency_key = NULL, method = NULL, target = NULL, body = NULL
                WHERE journal = ? AND place = ?
                """, [journal, index])
        }
    }

    /// Searches the in-flight operations of the principal's journals, of which there are few.
    ///
    /// Continues if its task is cancelled, since the result decides what is written about a retry.
    package func wasGivenUp(_ record: PushedRecordKey, of principal: Principal) async throws -> Bool {
        try await readForWrite { db in
            guard let owner = try db.principalID(principal) else { return false }
            return try db.exists(
                """
                SELECT 1 FROM push_journal j JOIN push_flight f ON f.journal = j.id
                WHERE j.principal = ? AND f.given_up = 1 AND f.client_table = ? AND f.record = ?
                """, [owner, record.table, Data(record.id.utf8)])
        }
    }

    /// Finds mapped ids by one key look-up each.
    package func mappedIDs(
        _ ids: Set<String>, in table: String, of principal: Principal
    ) async throws -> Set<String> {
        try await read { db in
            guard let owner = try db.principalID(principal) else { return [] }
            return try ids.filter { id in
                try db.exists(
                    """
                    SELECT 1 FROM id_map WHERE principal = ? AND client_table = ? AND backend_id = ? AND is_public = 1
                    """, [owner, key(table, "table"), Data(id.utf8)])
            }
        }
    }

    /// Closes a journal in one transaction.
    package func closeJournal(_ journal: Int64, with closure: JournalClosure, at now: Instant) async throws {
        let limit = max(1, limits.journalsPerPrincipal)
        try await write { db in
            guard
                let owner = try db.integer(
                    "SELECT principal FROM push_journal WHERE id = ? AND state = 'open'", [journal])
            else { return }
            try db.write(closure.notes, of: owner, at: now)
            try db.save(closure.mappings, of: owner, at: now)
            try db.run(
                """
                UPDATE push_journal SET state = 'closed', changed_at = max(changed_at, ?2), applied = applied + ?3,
                    found = ?3, lost = ?4 WHERE id = ?1
                """, [journal, now, closure.mappings.count, closure.lost])
            // Records are kept no longer than they are needed.
            try db.run(
                "UPDATE push_flight SET target = NULL, body = NULL, sought = NULL WHERE journal = ?", [journal])
            try db.thinJournals(of: owner, limit: limit)
        }
    }
}

extension Database {
    /// Writes a step and returns the number of the journal's principal.
    ///
    /// - Throws: ``StateError/journalClosed`` if the journal is not open.
    fileprivate func write(_ step: JournalStep, of journal: Int64, at now: Instant) throws -> Int64 {
        let owner = try integer("SELECT principal FROM push_journal WHERE id = ? AND state = 'open'", [journal])
        guard let owner else { throw StateError.journalClosed }
        for index in step.applied + step.rejected {
            try run("DELETE FROM push_flight WHERE journal = ? AND place = ?", [journal, index])
        }
        try write(step.notes, of: owner, at: now)
        try save(step.mappings, of: owner, at: now)
        for operationInFlight in step.inFlight { try insert(operationInFlight, of: journal) }
        try run(
            """
            UPDATE push_journal SET applied = applied + ?2, rejected = rejected + ?3, changed_at = max(changed_at, ?4)
            WHERE id = ?1
            """, [journal, step.applied.count, step.rejected.count, now])
        return owner
    }

    private func insert(_ operationInFlight: InFlightOperation, of journal: Int64) throws {
        try run(
            """
            INSERT OR REPLACE INTO push_flight (journal, place, kind, client_table, record, makes_id, idempotency_key,
                method, target, body, sought) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """,
            [
                journal, operationInFlight.index, operationInFlight.kind.rawValue,
                key(operationInFlight.record.table, "table"),
                Data(operationInFlight.record.id.utf8), operationInFlight.makesID, operationInFlight.request?.key,
                operationInFlight.request?.method,
                operationInFlight.request?.target, operationInFlight.request?.body.map { Data($0) },
                operationInFlight.sought.map { Data($0) },
            ])
    }

    /// Deletes a journal that is no longer needed, or else records how the push has ended.
    fileprivate func end(_ journal: Int64, _ end: JournalEnd, at now: Instant) throws {
        let unknown = Set(end.unknown.map(Int64.init))
        for index in try rows("SELECT place FROM push_flight WHERE journal = ?", [journal]).map({ try $0.integer(0) })
        where !unknown.contains(index) {
            try run("DELETE FROM push_flight WHERE journal = ? AND place = ?", [journal, index])
        }
        guard let failure = end.failure else { return try run("DELETE FROM push_journal WHERE id = ?", [journal]) }
        let isHalf = try exists(
            """
            SELECT 1 FROM push_journal j WHERE id = ? AND (applied > 0
                OR EXISTS (SELECT 1 FROM push_flight WHERE journal = j.id))
            """, [journal])
        guard isHalf else { return try run("DELETE FROM push_journal WHERE id = ?", [journal]) }
        try run(
            """
            UPDATE push_journal SET code = ?2, message = ?3, client_table = ?4, record = ?5, state = CASE WHEN EXISTS (
                SELECT 1 FROM push_flight WHERE journal = ?1 AND makes_id = 1) THEN 'open' ELSE 'failed' END
            WHERE id = ?1
            """,
            [
                journal, failure.code, failure.message.map { remark($0, limit: 1_024) }, failure.record?.table,
                failure.record.map { Data($0.id.utf8) },
            ])
    }

    /// Deletes the oldest journals of a principal over a limit, except open ones.
    fileprivate func thinJournals(of owner: Int64, limit: Int) throws {
        try run(
            """
            DELETE FROM push_journal WHERE id IN (SELECT id FROM push_journal WHERE principal = ? AND state <> 'open'
                ORDER BY id DESC LIMIT -1 OFFSET ?)
            """, [owner, limit])
    }

    /// Returns the operations of a journal that are or were in flight.
    func inFlight(of journal: Int64) throws -> [InFlightOperation] {
        try rows(
            """
            SELECT place, kind, client_table, record, makes_id, idempotency_key, method, target, body, sought
            FROM push_flight WHERE journal = ? ORDER BY place
            """, [journal]
        ).map { try InFlightOperation($0) }
    }

    /// Deletes journals of pushes that ended long ago, and open ones that have not changed for longer than a device may
    /// stay away.
    func collectJournals(before: Instant, openBefore: Instant, _ batch: Int) throws -> Int {
        try run(
            """
            DELETE FROM push_journal WHERE id IN (
                SELECT id FROM push_journal
                WHERE changed_at < CASE state WHEN 'open' THEN ?2 ELSE ?1 END AND changed_at < max(?1, ?2) LIMIT ?3)
            """, [before, openBefore, batch])
        return changesCount
    }
}
