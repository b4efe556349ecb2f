// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Names the kinds of transactions.
package enum PostgresMode: Hashable, Sendable {
    /// One snapshot for all statements (REPEATABLE READ), which change nothing. Ends when its caller is cancelled.
    case readOnly
    /// One snapshot like ``readOnly``, but goes on when its caller is cancelled: it decides whether something is written.
    case steadyRead
    /// READ COMMITTED whatever the server's default is: each statement sees what was committed before it began. Goes on
    /// when its caller is cancelled, so that a client that hangs up does not undo what was accepted.
    case readWrite
    /// One snapshot for all statements (REPEATABLE READ), which may also write: fails with
    /// ``PostgresError/serialization`` if another transaction has changed what they change. Goes on when its caller is
    /// cancelled.
    case snapshotWrite

    /// True if a COMMIT may change something.
    var isWrite: Bool { self == .readWrite || self == .snapshotWrite }

    /// The statement that begins the transaction.
    ///
    /// A write does not ask for READ WRITE: a standby would refuse that with an error that means something else.
    var begin: PostgresStatement {
        switch self {
        case .readOnly, .steadyRead: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case .readWrite: "BEGIN ISOLATION LEVEL READ COMMITTED"
        case .snapshotWrite: "BEGIN ISOLATION LEVEL REPEATABLE READ"
        }
    }
}
