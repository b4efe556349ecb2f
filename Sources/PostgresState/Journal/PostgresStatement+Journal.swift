// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

/// Writes journals of pushes by calls, within the caller's transaction, which has locked the journal.
extension PostgresStatement {
    /// Writes a step.
    static func write(
        _ step: JournalStep, of journal: Int64, _ owner: Principal, at now: Instant
    ) throws -> [PostgresStatement] {
        var statements = (step.applied + step.rejected).map { index in
            PostgresStatement(
                "DELETE FROM push_flight WHERE journal = $1 AND place = $2", [.integer(journal), .int(index)])
        }
        statements += try write(step.notes, of: owner, at: now)
        if !step.mappings.isEmpty { statements.append(try .lock(owner)) }
        statements += try save(step.mappings, of: owner, at: now)
        statements += try step.inFlight.map { try insert($0, of: journal) }
        return statements + [
            PostgresStatement(
                """
                UPDATE push_journal SET applied = applied + $2, rejected = rejected + $3,
                    changed_at = greatest(changed_at, $4) WHERE id = $1
                """, [.integer(journal), .int(step.applied.count), .int(step.rejected.count), .instant(now)])
        ]
    }

    private static func insert(_ operationInFlight: InFlightOperation, of journal: Int64) throws -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO push_flight (journal, place, kind, client_table, record, makes_id, idempotency_key, method,
                target, body, sought) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            ON CONFLICT (journal, place) DO UPDATE SET kind = $3, client_table = $4, record = $5, makes_id = $6,
                idempotency_key = $7, method = $8, target = $9, body = $10, sought = $11, given_up = false
            """,
            [
                .integer(journal), .int(operationInFlight.index), .text(operationInFlight.kind.rawValue),
                try .table(operationInFlight.record.table), .recordID(operationInFlight.record.id),
                .bool(operationInFlight.makesID), .text(operationInFlight.request?.key),
                .text(operationInFlight.request?.method), .text(operationInFlight.request?.target),
                .bytes(operationInFlight.request?.body), .bytes(operationInFlight.sought),
            ])
    }

    /// Deletes a journal that is no longer needed, or else records how the push has ended.
    static func end(_ journal: Int64, _ end: JournalEnd) -> [PostgresStatement] {
        let number = PostgresParameter.integer(journal)
        guard let failure = end.failure else {
            return [PostgresStatement("DELETE FROM push_journal WHERE id = $1", [number])]
        }
        // A push has thousands of operations at most, and mostly none with an unknown outcome.
        let unknown = Set(end.unknown).sorted()
        return [PostgresStatement("UPDATE push_flight SET place = -1 - place WHERE journal = $1", [number])]
            + unknown.map { index in
                PostgresStatement(
                    "UPDATE push_flight SET place = -1 - place WHERE journal = $1 AND place = -1 - $2",
                    [number, .int(index)])
            } + [
                PostgresStatement("DELETE FROM push_flight WHERE journal = $1 AND place < 0", [number]),
                PostgresStatement(
                    """
                    UPDATE push_journal SET code = $2, message = $3, client_table = $4, record = $5,
                        state = CASE WHEN EXISTS (SELECT 1 FROM push_flight WHERE journal = $1 AND makes_id)
                            THEN 'open' ELSE 'failed' END
                    WHERE id = $1
                    """,
                    [
                        number, .text(failure.code), .text(failure.message.map { remark($0, limit: 1_024) }),
                        .text(failure.record?.table), failure.record.map { .recordID($0.id) } ?? .bytes(nil),
                    ]),
                // Nothing of the push was applied.
                PostgresStatement(
                    """
                    DELETE FROM push_journal WHERE id = $1 AND applied = 0
                        AND NOT EXISTS (SELECT 1 FROM push_flight WHERE journal = $1)
                    """, [number]),
            ]
    }

    /// Deletes the oldest journals of a principal over a limit, except open ones.
    static func thinJournals(of owner: Principal, limit: Int) throws -> PostgresStatement {
        PostgresStatement(
            """
            DELETE FROM push_journal WHERE id IN (
                SELECT id FROM push_journal WHERE principal = $1 AND state <> 'open' ORDER BY id DESC OFFSET $2)
            """, [try .principal(owner), .int(max(1, limit))])
    }
}
