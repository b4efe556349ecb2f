// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A reason why a call to PostgreSQL failed.
///
/// Except for ``outcomeUnknown``, the failed transaction has changed nothing. The texts are libpq's or the server's, cut
/// and cleaned (`ForeignText`): they are for the log, and none contains a password.
package enum PostgresError: Error, Hashable, Sendable {
    /// Names the time that has passed.
    package enum Limit: String, CaseIterable, Sendable {
        /// The caller's limit, while a connection was in use.
        case call
        /// The caller's limit, while all connections were in use by others.
        case pool
        /// The server's limit for a statement.
        case statement
        /// The server's limit for waiting for a lock.
        case lock
    }

    /// The connection string cannot be understood, which a restart with another one repairs.
    case invalidSettings
    /// No connection could be opened within the caller's limit.
    case unreachable(String)
    /// The server refuses the user or the password, or the database does not exist.
    case authentication(String)
    /// The server has no connection to spare.
    case tooManyConnections(String)
    /// A time limit has passed.
    case timeout(Limit)
    /// Another transaction was in the way, or there was a deadlock. The same transaction may succeed at once.
    case serialization(String)
    /// The server does not take writes: a standby, or read-only by its settings.
    case readOnly(String)
    /// The server's disk is full.
    case diskFull(String)
    /// A constraint does not allow the change.
    case constraint(name: String, state: String)
    /// The statement does not fit the schema, a mistake of the program, or a schema of another version.
    case statement(state: String, text: String)
    /// The server is stopping or starting.
    case shuttingDown(String)
    /// The connection ended before COMMIT was sent, so nothing was changed.
    case connectionLost(String)
    /// The connection ended while COMMIT was on its way: the transaction may have taken place or not.
    case outcomeUnknown(String)
    /// The transaction had failed before, so its end was a ROLLBACK.
    case rolledBack
    /// The rows have more bytes than ``PostgresSettings/maximumResultBytes``.
    case resultTooLarge(limit: Int)
    /// A row has no such column, or its value is NULL or of another type.
    case unexpectedValue(column: Int)
    /// Too many callers are waiting for a connection.
    case queueFull
    /// The pool was shut down.
    case closed
    /// Any other error of the server, with its SQLSTATE.
    case server(state: String, text: String)
    /// libpq or the system failed for an internal reason, such as lack of memory.
    case system(String)

    /// A stable name for logs and metrics.
    package var code: String {
        switch self {
        case .invalidSettings: "postgres.settings"
        case .unreachable: "postgres.unreachable"
        case .authentication: "postgres.authentication"
        case .tooManyConnections: "postgres.too_many_connections"
        case .timeout(let limit): "postgres.timeout.\(limit.rawValue)"
        case .serialization: "postgres.serialization"
        case .readOnly: "postgres.read_only"
        case .diskFull: "postgres.disk_full"
        case .constraint: "postgres.constraint"
        case .statement: "postgres.statement"
        case .shuttingDown: "postgres.shutting_down"
        case .connectionLost: "postgres.connection_lost"
        case .outcomeUnknown: "postgres.outcome_unknown"
        case .rolledBack: "postgres.rolled_back"
        case .resultTooLarge: "postgres.result_too_large"
        case .unexpectedValue: "postgres.unexpected_value"
        case .queueFull: "postgres.queue_full"
        case .closed: "postgres.closed"
        case .server: "postgres.server"
        case .system: "postgres.system"
        }
    }

    /// True if the same transaction may succeed when it is tried again, at once or in a while.
    ///
    /// ``outcomeUnknown(_:)`` is not among them: look first what has become of the transaction.
    package var isTransient: Bool {
        switch self {
        case .unreachable, .tooManyConnections, .timeout, .serialization, .readOnly, .diskFull, .shuttingDown,
            .connectionLost, .queueFull:
            true
        case .invalidSettings, .authentication, .constraint, .statement, .outcomeUnknown, .rolledBack, .resultTooLarge,
            .unexpectedValue, .closed, .server, .system:
            false
        }
    }
}

extension PostgresError: CustomStringConvertible {
    /// A sentence for the log.
    package var description: String {
        switch self {
        case .invalidSettings: "the connection string cannot be understood"
        case .unreachable(let text): "no connection to the database: \(text)"
        case .authentication(let text): "the database refuses the gateway: \(text)"
        case .tooManyConnections(let text): "the database has no connection to spare: \(text)"
        case .timeout(.call): "the database did not answer in time"
        case .timeout(.pool): "no connection to the database became free in time"
        case .timeout(.statement): "the database stopped a statement that took too long"
        case .timeout(.lock): "a lock in the database was not free in time"
        case .serialization(let text): "another transaction was in the way: \(text)"
        case .readOnly(let text): "the database does not take writes: \(text)"
        case .diskFull(let text): "the disk of the database is full: \(text)"
        case .constraint(let name, let state): "the constraint '\(name)' does not allow the change (\(state))"
        case .statement(let state, let text): "the database does not accept the statement (\(state)): \(text)"
        case .shuttingDown(let text): "the database is stopping or starting: \(text)"
        case .connectionLost(let text): "the connection to the database ended: \(text)"
        case .outcomeUnknown(let text): "the connection ended during COMMIT, whose outcome is unknown: \(text)"
        case .rolledBack: "the transaction had failed before its end"
        case .resultTooLarge(let limit): "the result has more than \(limit) bytes"
        case .unexpectedValue(let column): "column \(column) of a result holds a value that it cannot have"
        case .queueFull: "too many calls are waiting for a connection to the database"
        case .closed: "the pool of connections is closed"
        case .server(let state, let text): "the database reports an error (\(state)): \(text)"
        case .system(let text): "the connection to the database failed: \(text)"
        }
    }
}
