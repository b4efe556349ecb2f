// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Users and their sessions.
enum Accounts {
    /// The origin of a request.
    struct Caller: Sendable {
        let userID: String
        let sessionID: String
    }

    static func ensure(_ account: DemoConfiguration.Account, at now: Int64, in db: Database) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO users (id, email, name, password) VALUES (?, ?, ?, ?)",
            arguments: [account.id, account.email, account.name, account.password])
        for token in account.tokens {
            try db.execute(
                sql: "INSERT OR IGNORE INTO sessions (id, token, user_id, used_at) VALUES (?, ?, ?, ?)",
                arguments: ["session-of-\(token)", token, account.id, now])
        }
    }

    /// Creates a session and returns its token; nil if no user has this email and password.
    static func login(email: String, password: String, at now: Int64, id: String, in db: Database) throws -> String? {
        guard
            let user = try String.fetchOne(
                db, sql: "SELECT id FROM users WHERE email = ? AND password = ?", arguments: [email, password])
        else { return nil }
        let token = (0..<4).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()
        try db.execute(
            sql: "INSERT INTO sessions (id, token, user_id, used_at) VALUES (?, ?, ?, ?)",
            arguments: [id, token, user, now])
        return token
    }

    /// Returns the caller to whose session a token belongs, nil if there is none; the session's time of use is updated
    /// if it is more than an hour old.
    static func caller(token: String, at now: Int64, in db: Database) throws -> Caller? {
        guard
            let row = try Row.fetchOne(
                db, sql: "SELECT id, user_id, used_at FROM sessions WHERE token = ?", arguments: [token])
        else { return nil }
        let session: String = row["id"]
        if now - (row["used_at"] as Int64) > 3_600_000 {
            try db.execute(sql: "UPDATE sessions SET used_at = ? WHERE id = ?", arguments: [now, session])
        }
        return Caller(userID: row["user_id"], sessionID: session)
    }

    /// Returns the id of the user with this email or id.
    static func user(_ name: String, in db: Database) throws -> String {
        guard
            let id = try String.fetchOne(
                db, sql: "SELECT id FROM users WHERE id = ?1 OR email = ?1", arguments: [name])
        else { throw DemoError.badRequest("no user \(name)") }
        return id
    }

    /// Returns the profile that a user gets of their own account.
    static func profile(of id: String, in db: Database) throws -> DemoValue {
        guard let row = try Row.fetchOne(db, sql: "SELECT email, name FROM users WHERE id = ?", arguments: [id]) else {
            throw DemoError.unauthenticated
        }
        return ["id": .string(id), "email": .string(row["email"]), "name": .string(row["name"])]
    }
}
