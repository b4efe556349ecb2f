// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Statements that go to the server together, and where their results go.
struct Job: Sendable {
    /// The results of the statements.
    struct Output: Sendable {
        /// The connection that is held for the next job of the transaction; 0 if the transaction is over.
        var connection: UInt64
        var results: [PostgresResult]
    }

    let id: UInt64
    let mode: PostgresMode
    /// The connection that holds the transaction; nil begins one on any connection.
    let connection: UInt64?
    let statements: [PostgresStatement]
    /// True to end the transaction with COMMIT.
    let commits: Bool
    let deadline: NIODeadline
    let reply: Reply

    /// Returns all statements to send, with the part that each has in the transaction.
    func parts(_ settings: PostgresSettings, now: NIODeadline) -> [(PostgresStatement, PipelineProgress.Step)] {
        var parts: [(PostgresStatement, PipelineProgress.Step)] = []
        if connection == nil {
            parts.append((mode.begin, .control))
            parts.append((limits(settings, now: now), .control))
        }
        parts += statements.map { ($0, .statement) }
        if commits { parts.append(("COMMIT", .commit)) }
        return parts
    }

    /// Sets the server's limits for the transaction, since poolers keep no settings of sessions.
    ///
    /// The server stops a statement before the caller's time is over, which leaves no doubt about what has happened; and
    /// it frees the locks of a gateway that has fallen silent.
    private func limits(_ settings: PostgresSettings, now: NIODeadline) -> PostgresStatement {
        let left = max(1, (deadline - now).nanoseconds / 1_000_000)
        let lock = max(1, TimeAmount(settings.lockTimeout).nanoseconds / 1_000_000)
        let times: [PostgresParameter] = [
            .text("\(max(1, left * 9 / 10))"), .text("\(min(lock, left))"), .text("\(left + 1_000)"),
        ]
        guard let schema = settings.schema else {
            return PostgresStatement(
                """
                SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true), \
                set_config('idle_in_transaction_session_timeout', $3, true)
                """, times)
        }
        return PostgresStatement(
            """
            SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true), \
            set_config('idle_in_transaction_session_timeout', $3, true), \
            set_config('search_path', quote_ident($4) || ', pg_temp', true)
            """, times + [.text(schema)])
    }
}
