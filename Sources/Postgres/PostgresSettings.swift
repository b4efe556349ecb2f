// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The settings of a pool.
package struct PostgresSettings: Hashable, Sendable {
    /// The connection string, a URI or `key=value` pairs, as every program with libpq takes it; what it leaves out
    /// comes from `PG…` variables and the password file.
    ///
    /// It may hold a password, so it is never logged: ``ConnectionInfo/description`` is.
    package var conninfo: String
    /// The most connections at a time.
    package var maximumConnections = 8
    /// The most callers that wait for a connection; the next one gets ``PostgresError/queueFull``.
    package var maximumWaiting = 1_024
    /// The longest time for opening one connection, resolution of names and all its hosts included.
    package var connectTimeout = Duration.seconds(5)
    /// The longest time that a statement waits for a lock.
    package var lockTimeout = Duration.seconds(5)
    /// The schema in which statements find their tables; nil leaves it to the server.
    ///
    /// Set in each transaction, since poolers keep no settings of sessions.
    package var schema: String?
    /// The pauses between failed attempts to open a connection.
    package var backoff = Backoff()
    /// True to prepare each statement once on each connection.
    ///
    /// Must be false behind a pooler in transaction mode that does not know prepared statements, such as pgbouncer
    /// before 1.21.
    package var preparesStatements = true
    /// The most prepared statements of one connection; others are sent in full each time.
    package var maximumPrepared = 256
    /// The most bytes of all rows that one call returns.
    package var maximumResultBytes = 64 << 20

    /// Creates the usual settings.
    package init(conninfo: String) { self.conninfo = conninfo }
}
