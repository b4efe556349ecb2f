// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// An error of the state, with a stable code and one sentence.
///
/// If one is thrown, the failed transaction has changed nothing, except perhaps with ``outcomeUnknown``.
package enum StateError: Error, Hashable, Sendable {
    /// The file cannot be opened or created; the reason is a clause. Fix the path or its permissions.
    case open(path: String, reason: String)
    /// Another gateway holds this state. SQLite state has one user; several gateways need PostgreSQL.
    case inUse(path: String, holder: String?)
    /// The file is not a Rind state, and was left as it is.
    case notRind(path: String)
    /// A newer gateway has migrated the state; run that one, or restore the backup from before the upgrade.
    case schemaNewer(path: String, found: Int, known: Int)
    /// The state has the form of an earlier version, which is not read; put it away and start with a new one.
    case outdated(path: String, found: Int)
    /// The state is the target of a copy that is not finished: finish it, or remove the target.
    case copying(path: String)
    /// The file's contents are damaged. Stop, keep the file, restore a backup.
    case corrupt(String)
    /// The disk, or the file's own limit, is full. Answer 503; nothing was lost.
    case full
    /// Another process has locked the file for longer than the busy timeout, or others have changed the same all the
    /// while. Answer 503.
    case busy
    /// The file or its file system is not writable, or the role lacks a right in the database; the reason is a clause.
    /// Answer 503.
    case readOnly(String)
    /// The file, its write-ahead log or the log's index was replaced or removed while the gateway ran, so what is written
    /// from now on is lost. Stop, which saves what the log had, and restore a backup or start without the file if it is
    /// gone. Answer 503.
    case replaced(path: String)
    /// The disk failed to read or write.
    case io(String)
    /// The state has not answered in time: the disk is slow or hangs, or a long write is in progress.
    case slow
    /// The database cannot be reached, refuses the gateway, or is stopping or starting. Answer 503.
    case unreachable(String)
    /// The database has no connection to spare, or too many calls wait for one. Answer 503.
    case connections
    /// The database takes no writes: a standby, or read-only by its settings. Answer 503; another server may take over.
    case standby
    /// The connection ended during a COMMIT, so the change was made or not, as after a crash. Answer 503; the next sync
    /// is correct either way.
    case outcomeUnknown
    /// The store was closed; only seen while shutting down.
    case closed
    /// A cursor must be greater than all cursors that its principal ever got. Wait for the clock and commit again.
    case cursorTaken(newest: Cursor)
    /// The row has been collected since it was read. Treat the cursor as unknown.
    case cursorUnknown(Cursor)
    /// The replica does not exist for this principal, or a new one's number is taken. Start the pull again.
    case replicaUnknown(ReplicaID)
    /// The session has seen a reset since the pull began. Start the pull again.
    case generationChanged(current: Int)
    /// The ledger has been changed since it was read. Start the pull again.
    case ledgerChanged
    /// The backend's ids of more records have become known since the pull began. Start the pull again.
    case idsChanged
    /// The replica has gone on without the parent of a new cursor. Start the pull again: it will be a fork.
    case replicaForked(ReplicaID)
    /// The journal of a running push has been closed elsewhere. Send nothing more; the client will come again.
    case journalClosed
    /// The lease under which the sync writes has passed to another gateway, or was given back. Answer 503; send nothing
    /// more.
    case leaseLost
    /// A value is over its limit; the noun names the value.
    case tooLarge(String)
    /// A key that no store accepts: empty, longer than 256 bytes, or with a NUL; the noun names the key.
    case invalid(String)
    /// Any other error, which would be a defect of the gateway.
    case failed(String)

    /// The stable code, for logs, metrics and the error header.
    package var code: String { entry.code }

    /// True if the same call may succeed in a while, without any repair.
    package var isTransient: Bool {
        switch self {
        case .busy, .full, .io, .slow, .unreachable, .connections, .standby, .outcomeUnknown: true
        default: isContention
        }
    }

    /// True if nothing can be stored until the file or its location has been repaired.
    package var isUnavailable: Bool {
        switch self {
        case .replaced, .readOnly: true
        default: false
        }
    }

    /// The operator's remedy, a clause; nil if the state itself is in order.
    package var advice: String? {
        switch self {
        case .full: "make room; the gateway goes on by itself"
        case .busy: "look for another program that uses the state"
        case .readOnly:
            "give the gateway the right to write: to the file, whose file system may be mounted to be read only, or its "
                + "role to the schema and its tables"
        case .replaced:
            "move the file back if it is there, and the gateway goes on with it; otherwise stop the gateway, then restore "
                + "a backup, or start anew without the file; if only its '-wal' or '-shm' is gone, stopping saves what it had"
        case .io: "look at the disk, and at the system's log"
        case .corrupt, .notRind: "stop the gateway, keep the file, restore a backup"
        case .open: "look at the path and its permissions"
        case .outdated:
            "put the state away and start with a new one: each device then gets what '[pull] unknown_cursor' says, see "
                + "'A state of an older form' in docs/STATE.md"
        case .schemaNewer: "run the version that has made it, or restore the backup from before the upgrade"
        case .unreachable:
            "look whether the database runs, lets the gateway in and has its tables; the gateway goes on by itself"
        case .connections: "raise the database's limit of connections, or lower [state] pool_size"
        case .standby: "look which server [state] url names, and whether its standby has taken over"
        default: nil
        }
    }

    /// True if another change for the same principal came in between, so that the same call may succeed at once.
    package var isContention: Bool {
        switch self {
        case .cursorTaken, .cursorUnknown, .generationChanged, .replicaUnknown, .ledgerChanged, .replicaForked,
            .journalClosed, .idsChanged, .leaseLost:
            true
        default: false
        }
    }
}

extension StateError: CustomStringConvertible {
    /// One sentence for the operator, without values of users.
    package var description: String { entry.sentence }

    private var entry: (code: String, sentence: String) {
        switch self {
        case .open(let path, let reason): ("state.open", "The state at '\(path)' cannot be opened: \(reason).")
        case .inUse(let path, let holder):
            (
                "state.in_use",
                "The state file '\(path)' is in use by a gateway\(holder.map { " (process \($0))" } ?? "")."
            )
        case .notRind(let path):
            ("state.not_rind", "What is at '\(path)' is not a state of Rind and was left as it is.")
        case .schemaNewer(let path, let found, let known):
            (
                "state.schema_newer",
                "The state at '\(path)' has schema version \(found), but this version of Rind knows only up to \(known)."
            )
        case .outdated(let path, let found):
            (
                "state.outdated",
                "The state at '\(path)' has schema version \(found), whose form this version of Rind does not read."
            )
        case .copying(let path):
            (
                "state.copying",
                "The state at '\(path)' is an unfinished copy: run 'rind state copy' again to its end, or remove the target."
            )
        case .corrupt(let what): ("state.corrupt", "The state is damaged: \(what).")
        case .full: ("state.full", "There is no space left for the state; nothing was changed.")
        case .busy:
            ("state.busy", "The state is locked, or changed by others all the while; nothing was changed.")
        case .readOnly(let reason):
            ("state.read_only", "The state cannot be written: \(reason); nothing was changed.")
        case .replaced(let path):
            ("state.replaced", "The state file '\(path)' was replaced or removed while the gateway ran.")
        case .io(let what): ("state.io", "The disk failed while the state was read or written: \(what).")
        case .slow: ("state.slow", "The state did not answer in time.")
        case .unreachable(let reason): ("state.unreachable", "The database of the state cannot be used: \(reason).")
        case .connections:
            ("state.connections", "The database of the state has no connection to spare; nothing was changed.")
        case .standby: ("state.standby", "The database of the state takes no writes; nothing was changed.")
        case .outcomeUnknown:
            (
                "state.outcome_unknown",
                "The connection to the database ended while a change was being made; it was made or not."
            )
        case .closed: ("state.closed", "The state is closed.")
        case .cursorTaken(let newest):
            ("state.cursor_taken", "The cursor is not newer than \(newest), which was handed out already.")
        case .cursorUnknown(let cursor): ("state.cursor_unknown", "The cursor \(cursor) is no longer known.")
        case .replicaUnknown(let replica):
            ("state.replica_unknown", "The replica \(replica) is not there, or belongs to another principal.")
        case .generationChanged(let current):
            ("state.generation_changed", "The session was reset meanwhile; its generation is now \(current).")
        case .ledgerChanged: ("state.ledger_changed", "The ledger was changed by another sync meanwhile.")
        case .idsChanged: ("state.ids_changed", "Ids that the backend has given to records became known meanwhile.")
        case .replicaForked(let replica):
            ("state.replica_forked", "The replica \(replica) has gone on without this cursor.")
        case .journalClosed: ("state.journal_closed", "The journal of the push was closed by another sync.")
        case .leaseLost:
            ("state.lease_lost", "The principal's lease has passed to another gateway; nothing was changed.")
        case .tooLarge(let what): ("state.too_large", "The \(what) is too large for the state.")
        case .invalid(let what): ("state.invalid", "The \(what) cannot be a key of the state.")
        case .failed(let what): ("state.failed", "The state cannot do this: \(what).")
        }
    }
}
