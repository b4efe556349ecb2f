// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Opens a journal in one round trip.
    package func beginPush(_ opening: JournalOpening, principal: Principal, at now: Instant) async throws -> Int64 {
        var statements: [PostgresStatement] = [try .ensure(principal, at: now)]
        statements += try PostgresStatement.write(opening.notes, of: principal, at: now)
        statements.append(
            PostgresStatement(
                """
                INSERT INTO push_journal (principal, presented, started_at, changed_at, state, operations)
                VALUES ($1, $2, $3, $3, 'open', $4) RETURNING id
                """,
                [
                    try .principal(principal), .cursor(opening.presented), .instant(now), .int(opening.operations),
                ]))
        guard let row = try await write(statements).last?.rows.first else {
            throw StateError.failed("a journal that was created has no number")
        }
        return try row.integer(0)
    }

    /// Writes a step in two round trips.
    package func advance(_ step: JournalStep, of journal: Int64, at now: Instant) async throws {
        try await transaction { transaction in
            guard let owner = try await Self.owner(ofOpen: journal, &transaction) else {
                throw StateError.journalClosed
            }
            _ = try await transaction.commit(PostgresStatement.write(step, of: journal, owner, at: now))
        }
    }

    /// Writes the end of a push in two round trips.
    package func endPush(_ end: JournalEnd, of journal: Int64, at now: Instant) async throws {
        if let receipt = end.receipt, receipt.receipt.body.count > limits.receiptBytes {
            throw StateError.tooLarge("answer of the push")
        }
        let limits = limits
        try await transaction { transaction in
            guard let owner = try await Self.owner(ofOpen: journal, &transaction) else {
                throw StateError.journalClosed
            }
            var statements = try PostgresStatement.write(end.step, of: journal, owner, at: now)
            if let kept = end.receipt {
                statements += try PostgresStatement.save(
                    kept, of: owner, limit: limits.receiptsPerPrincipal, at: now)
            }
            statements += PostgresStatement.end(journal, end)
            if end.failure != nil {
                statements.append(try .thinJournals(of: owner, limit: limits.journalsPerPrincipal))
            }
            _ = try await transaction.commit(statements)
        }
    }

    /// Counts an attempt in one round trip; an attempt for a closed journal is not counted.
    package func countTry(of journal: Int64, at now: Instant) async throws -> (tries: Int, since: Instant) {
        let results = try await write([
            PostgresStatement(
                """
                UPDATE push_journal SET tries = tries + 1, tried_at = coalesce(tried_at, $2)
                WHERE id = $1 AND state = 'open'
                """, [.integer(journal), .instant(now)]),
            PostgresStatement("SELECT tries, tried_at FROM push_journal WHERE id = $1", [.integer(journal)]),
        ])
        guard let row = results.row(1) else { return (0, now) }
        return (Int(try row.number(0)), try row.optionalInstant(1) ?? now)
    }

    /// Updates one row.
    package func giveUp(_ index: Int, of journal: Int64) async throws {
        try await write([
            PostgresStatement(
                """
                UPDATE push_flight SET given_up = true, idempotency_key = NULL, method = NULL, target = NULL, body = NULL
                WHERE journal = $1 AND place = $2
                """, [.integer(journal), .int(index)])
        ])
    }

    /// Searches the in-flight operations of the principal's journals, of which there are few.
    ///
    /// Continues if its task is cancelled, since the result decides what is written about a retry.
    package func wasGivenUp(_ record: PushedRecordKey, of principal: Principal) async throws -> Bool {
        try await write([
            PostgresStatement(
                """
                SELECT 1 FROM push_journal j JOIN push_flight f ON f.journal = j.id
                WHERE j.principal = $1 AND f.given_up AND f.client_table = $2 AND f.record = $3 LIMIT 1
                """, [.principal(principal), .text(record.table), .recordID(record.id)])
        ]).row(0) != nil
    }

    /// Closes a journal in two round trips.
    package func closeJournal(_ journal: Int64, with closure: JournalClosure, at now: Instant) async throws {
        let limit = limits.journalsPerPrincipal
        try await transaction { transaction in
            guard let owner = try await Self.owner(ofOpen: journal, &transaction) else { return }
            var statements = try PostgresStatement.write(closure.notes, of: owner, at: now)
            statements += try PostgresStatement.save(closure.mappings, of: owner, at: now)
            statements += [
                PostgresStatement(
                    """
                    UPDATE push_journal SET state = 'closed', changed_at = greatest(changed_at, $2),
                        applied = applied + $3, found = $3, lost = $4 WHERE id = $1
                    """, [.integer(journal), .instant(now), .int(closure.mappings.count), .int(closure.lost)]),
                // Records are kept no longer than they are needed.
                PostgresStatement(
                    "UPDATE push_flight SET target = NULL, body = NULL, sought = NULL WHERE journal = $1",
                    [.integer(journal)]),
                try .thinJournals(of: owner, limit: limit),
            ]
            _ = try await transaction.commit(statements)
        }
    }

    /// Returns the principal of a journal that is open, and locks both until the end of the transaction.
    private static func owner(
        ofOpen journal: Int64, _ transaction: inout PostgresTransaction
    ) async throws -> Principal? {
        let results = try await transaction.pipeline([
            // The principal first, in the order in which all others lock.
            PostgresStatement(
                """
                SELECT 1 FROM principal WHERE principal = (SELECT principal FROM push_journal WHERE id = $1) FOR UPDATE
                """, [.integer(journal)]),
            PostgresStatement(
                "SELECT principal FROM push_journal WHERE id = $1 AND state = 'open' FOR UPDATE", [.integer(journal)]),
        ])
        return try results.row(1).map { Principal(rawValue: try $0.text(0)) }
    }
}
