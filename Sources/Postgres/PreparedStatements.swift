// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names the statements that a connection has prepared.
///
/// The server keeps a prepared statement until the connection ends, also if the transaction that prepared it fails.
/// Statements beyond the limit are sent in full each time, instead of others being given up: a program has a fixed number
/// of statements.
struct PreparedStatements {
    /// A text with the types of its parameters.
    struct Key: Hashable, Sendable {
        let sql: String
        let types: [UInt32]

        init(_ statement: PostgresStatement) {
            sql = statement.sql
            types = statement.parameters.map(\.type)
        }
    }

    private let limit: Int
    /// Unlike that of any other connection: behind a pooler that mixes them up, a name must not mean another statement.
    private let prefix = "rind_\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    private var names: [Key: String] = [:]
    private var last = 0

    init(limit: Int) { self.limit = limit }

    /// Returns the name of a prepared statement.
    func name(of key: Key) -> String? { names[key] }

    /// Returns a name for a statement that is not prepared yet, never given before; nil above the limit.
    mutating func makeName(besides pending: Int) -> String? {
        guard names.count + pending < limit else { return nil }
        last += 1
        return "\(prefix)_\(last)"
    }

    /// Records that the server has prepared the statement.
    mutating func confirm(_ key: Key, as name: String) { names[key] = name }
}
