// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import NIOConcurrencyHelpers

extension DemoBackend {
    /// Returns all records that a user (id or email) sees, by table and by id; the parts of composite keys are joined
    /// with `.`.
    ///
    /// Members are named as in pushes, dates are ISO 8601: the client should have these records after a quiet sync.
    package func records(
        of user: String = DemoConfiguration.Account.ada.id
    ) async throws -> [String: [String: DemoValue]] {
        try await store.write { db in
            let id = try Accounts.user(user, in: db)
            var tables: [String: [String: DemoValue]] = [:]
            for entity in Entity.all {
                let (alias, condition) = Visibility.of(entity)
                let rows = try Row.fetchAll(
                    db, sql: "SELECT \(alias).* FROM \(entity.name) \(alias) WHERE \(condition)",
                    arguments: ["user": id])
                var records: [String: DemoValue] = [:]
                for row in rows {
                    let members = entity.members(of: row)
                    records[entity.id(of: row)] = .object(Dictionary(members.map { ($0.name, $0.value) }) { $1 })
                }
                tables[entity.name] = records
            }
            return tables
        }
    }

    /// Creates a session for a user, as a login does, and returns its access token.
    package func login(as email: String) async throws -> String {
        let (now, id) = (clock.now, store.ids.next())
        return try await store.write { db in
            let password = try String.fetchOne(
                db, sql: "SELECT password FROM users WHERE email = ?", arguments: [email])
            guard let password,
                let token = try Accounts.login(email: email, password: password, at: now, id: id, in: db)
            else { throw DemoError.badRequest("no user \(email)") }
            return token
        }
    }

    /// Sets or clears the reset flag of a session, by its access token.
    package func setPendingReset(_ isPending: Bool, token: String) async throws {
        try await store.write { db in
            try db.execute(
                sql: "UPDATE sessions SET is_pending_reset = ? WHERE token = ?", arguments: [isPending, token])
        }
    }

    /// Returns the checkpoints that the backend holds for a session, by namespace.
    package func checkpoints(token: String) async throws -> [String: String] {
        try await store.write { db in
            let session = try String.fetchOne(db, sql: "SELECT id FROM sessions WHERE token = ?", arguments: [token])
            return try session.map { try Checkpoints.all(of: $0, in: db) } ?? [:]
        }
    }

    /// Forgets old deletions, sessions and answers now; streams do so by themselves once a day.
    package func prune() async throws {
        let now = clock.now
        try await store.write { try DemoStore.prune(at: now, in: $0) }
    }

    /// Prunes if the last time was at least a day ago, by the clock.
    func pruneOnceADay() async throws {
        let now = clock.now
        let isDue = lastPruned.withLockedValue { last in
            guard now - last >= DemoClock.days(1) else { return false }
            last = now
            return true
        }
        if isDue { try await prune() }
    }

    /// Forgets all deletions, like a backend that prunes them too early or loses them.
    package func forgetDeletions() async throws {
        try await store.write { db in
            for table in DemoStore.auditTables { try db.execute(sql: "DELETE FROM \(table)") }
        }
    }

    /// Forgets all records, deletions and checkpoints, like a backend that is restored empty; accounts and sessions
    /// stay.
    package func wipe() async throws {
        try await store.write { db in
            let others = ["project_members", "task_shares", "checkpoints", "answers", "id_maps"]
            for table in others + Entity.all.map(\.name) + DemoStore.auditTables {
                try db.execute(sql: "DELETE FROM \(table)")
            }
        }
    }
}
