// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore

extension StateError {
    /// Returns the ``StateError`` for a failure of SQLite; a ``StateError`` or a cancellation is returned unchanged.
    static func wrapping(_ error: any Error, path: String) -> any Error {
        switch error {
        case is StateError, is CancellationError: error
        case let error as DatabaseError: StateError(error, path: path, hasRoom: { StateFile.hasRoom(beside: path) })
        default: StateError.failed("\(type(of: error))")
        }
    }

    /// Creates the error for a result code of SQLite (https://www.sqlite.org/rescode.html).
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - path: The path of the state file.
    ///   - hasRoom: Returns true if the disk has room: SQLite reports a full disk in its own words only if it writes
    ///     pages, not if it creates the index of its log, as at every start.
    init(_ error: DatabaseError, path: String, hasRoom: () -> Bool = { true }) {
        let message = error.message ?? "no message"
        switch error.resultCode {
        case .SQLITE_FULL: self = .full
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
        case .SQLITE_CORRUPT: self = .corrupt(message)
        case .SQLITE_NOTADB: self = .notRind(path: path)
        case .SQLITE_READONLY where error.extendedResultCode == .SQLITE_READONLY_DBMOVED:
            self = .replaced(path: path)
        case .SQLITE_READONLY: self = .readOnly("SQLite may not write '\(path)' (\(message))")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: self = .open(path: path, reason: message)
        case .SQLITE_IOERR where !hasRoom(): self = .full
        case .SQLITE_IOERR: self = .io("SQLite error \(error.extendedResultCode.rawValue)")
        // GRDB's own error for an access after close().
        case .SQLITE_MISUSE: self = .closed
        default: self = .failed("SQLite error \(error.extendedResultCode.rawValue), \(message)")
        }
    }
}
