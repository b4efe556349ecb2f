// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
package import StateStore
package import SyncModel

extension SQLiteStateStore: QuarantineAdmin {
    private static let pageLimit = 10_000

    /// Returns entries in the order of their numbers, without reading the bodies.
    package func quarantinedPushes(
        of principal: Principal?, after: Int64, limit: Int
    ) async throws -> [QuarantinedPush] {
        try await read { db in
            var arguments: Database.Arguments = [after]
            if let principal { try arguments += [key(principal.rawValue, "principal")] }
            return try db.rows(
                """
                SELECT \(QuarantinedPush.columns), x''
                FROM push_quarantine q JOIN principal p ON p.id = q.principal
                WHERE q.id > ?1 \(principal == nil ? "" : "AND \(Database.belongs("p.digest", to: "?2"))")
                ORDER BY q.id LIMIT \(min(max(0, limit), Self.pageLimit))
                """, arguments
            ).map { try QuarantinedPush($0) }
        }
    }

    /// Reads one row.
    package func quarantinedPush(_ id: Int64) async throws -> QuarantinedPush? {
        try await read { db in
            try db.row(
                """
                SELECT \(QuarantinedPush.columns), q.body
                FROM push_quarantine q JOIN principal p ON p.id = q.principal WHERE q.id = ?
                """, [id]
            ).map { try QuarantinedPush($0) }
        }
    }

    /// Schedules retries in one transaction.
    package func scheduleRetries(_ ids: [Int64]?, of principal: Principal?, at now: Instant) async throws -> [Int64] {
        try await write { db in
            let owner = try principal.map { try key($0.rawValue, "principal") }
            if let owner, try !db.exists(Database.principals(of: "?1"), [owner]) {
                return []
            }
            let condition =
                owner == nil
                ? "WHERE id > 0" : "WHERE principal IN (\(Database.principals(of: "?1")))"
            let all: Database.Arguments = owner.map { [$0] } ?? []
            let found =
                try ids.map { try $0.filter { try db.exists("SELECT 1 FROM push_quarantine WHERE id = ?", [$0]) } }
                ?? db.rows("SELECT id FROM push_quarantine \(condition) ORDER BY id", all).map { try $0.integer(0) }
            for id in found {
                try db.run("UPDATE push_quarantine SET marked_at = ?, tries = 0 WHERE id = ?", [now, id])
            }
            return found
        }
    }

    /// Deletes entries in one transaction.
    package func dropPushes(_ ids: [Int64]) async throws -> [Int64] {
        try await write { try $0.delete(ids, from: "push_quarantine") }
    }

    /// Returns lines in the order of their numbers.
    package func quarantinedLines(
        of principal: Principal?, after: Int64, limit: Int
    ) async throws -> [QuarantineEntry] {
        try await read { db in
            var arguments: Database.Arguments = [after]
            if let principal { try arguments += [key(principal.rawValue, "principal")] }
            return try db.rows(
                """
                SELECT \(QuarantineEntry.columns) FROM quarantine
                WHERE id > ?1 \(principal == nil ? "" : "AND \(Database.belongs("principal", to: "?2"))")
                ORDER BY id LIMIT \(min(max(0, limit), Self.pageLimit))
                """, arguments
            ).compactMap { try QuarantineEntry($0) }
        }
    }

    /// Reads one row.
    package func quarantinedLine(_ id: Int64) async throws -> QuarantineEntry? {
        try await read { db in
            try db.row("SELECT \(QuarantineEntry.columns) FROM quarantine WHERE id = ?", [id])
                .flatMap { try QuarantineEntry($0) }
        }
    }

    /// Deletes lines in one transaction.
    package func dropLines(_ ids: [Int64]) async throws -> [Int64] {
        try await write { try $0.delete(ids, from: "quarantine") }
    }
}

extension Database {
    /// Deletes rows by their numbers and returns the numbers that existed.
    fileprivate func delete(_ ids: [Int64], from table: String) throws -> [Int64] {
        try ids.filter { id in
            try run("DELETE FROM \(table) WHERE id = ?", [id])
            return changesCount > 0
        }
    }
}
