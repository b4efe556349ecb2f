// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore: QuarantineAdmin {
    /// Returns entries in the order of their numbers, without reading the bodies.
    package func quarantinedPushes(
        of principal: Principal?, after: Int64, limit: Int
    ) async throws -> [QuarantinedPush] {
        try await read([
            PostgresStatement(
                """
                SELECT \(QuarantinedPush.columns), ''::bytea FROM push_quarantine
                WHERE id > $1 AND ($2::text IS NULL OR \(PostgresStatement.belongs("principal", to: "$2"))) ORDER BY id LIMIT $3
                """, [.integer(after), .text(principal?.rawValue), .int(page(limit))])
        ]).rows(0).map { try QuarantinedPush($0) }
    }

    /// Reads one row.
    package func quarantinedPush(_ id: Int64) async throws -> QuarantinedPush? {
        try await read([
            PostgresStatement(
                "SELECT \(QuarantinedPush.columns), body FROM push_quarantine WHERE id = $1", [.integer(id)])
        ]).row(0).map { try QuarantinedPush($0) }
    }

    /// Schedules retries in one round trip.
    package func scheduleRetries(_ ids: [Int64]?, of principal: Principal?, at now: Instant) async throws -> [Int64] {
        if let ids {
            return try await Self.present(
                ids,
                write(
                    ids.map { id in
                        PostgresStatement(
                            """
                            UPDATE push_quarantine SET marked_at = $2, tries = 0
                            WHERE id = $1
                                AND ($3::text IS NULL OR EXISTS (
                                    SELECT 1 FROM principal WHERE principal = $3 OR user_digest = $3))
                            """, [.integer(id), .instant(now), .text(principal?.rawValue)])
                    }))
        }
        let results = try await write([
            PostgresStatement(
                """
                UPDATE push_quarantine SET marked_at = $1, tries = 0 WHERE $2::text IS NULL OR \(PostgresStatement.belongs("principal", to: "$2"))
                RETURNING id
                """, [.instant(now), .text(principal?.rawValue)])
        ])
        return try results.rows(0).map { try $0.integer(0) }.sorted()
    }

    /// Deletes entries in one round trip.
    package func dropPushes(_ ids: [Int64]) async throws -> [Int64] {
        try await Self.present(
            ids,
            write(
                ids.map { PostgresStatement("DELETE FROM push_quarantine WHERE id = $1", [.integer($0)]) }))
    }

    /// Returns lines in the order of their numbers.
    package func quarantinedLines(
        of principal: Principal?, after: Int64, limit: Int
    ) async throws -> [QuarantineEntry] {
        try await read([
            PostgresStatement(
                """
                SELECT \(QuarantineEntry.columns) FROM quarantine
                WHERE id > $1 AND ($2::text IS NULL OR \(PostgresStatement.belongs("principal", to: "$2"))) ORDER BY id LIMIT $3
                """, [.integer(after), .text(principal?.rawValue), .int(page(limit))])
        ]).rows(0).compactMap { try QuarantineEntry($0) }
    }

    /// Reads one row.
    package func quarantinedLine(_ id: Int64) async throws -> QuarantineEntry? {
        try await read([
            PostgresStatement("SELECT \(QuarantineEntry.columns) FROM quarantine WHERE id = $1", [.integer(id)])
        ]).row(0).flatMap { try QuarantineEntry($0) }
    }

    /// Deletes lines in one round trip.
    package func dropLines(_ ids: [Int64]) async throws -> [Int64] {
        try await Self.present(
            ids, write(ids.map { PostgresStatement("DELETE FROM quarantine WHERE id = $1", [.integer($0)]) }))
    }

    /// Returns the numbers whose statement has touched a row.
    private static func present(_ ids: [Int64], _ results: [PostgresResult]) -> [Int64] {
        zip(ids, results).filter { $1.count > 0 }.map(\.0)
    }
}
