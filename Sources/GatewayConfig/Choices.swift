// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// Decides how much of a quarantined line is kept for the operator.
package enum QuarantineRule: String, CaseIterable, Sendable {
    /// Only the reason and the position.
    case no
    /// The first 1024 bytes.
    case cut
    /// The whole line.
    case whole
}

/// Decides whether the gateway records which records each device holds.
package enum LedgerMode: String, CaseIterable, Sendable {
    /// The gateway keeps a ledger.
    case full
    /// There is no ledger: records that come again are sent again, and no record is deleted for absence.
    case off
}

/// The columns of an update that are sent to the backend.
package enum PushedColumns: String, CaseIterable, Sendable {
    /// All writable columns that the client sent.
    case row
    /// Those of them that the client reports as changed.
    case changed
}

/// Decides who looks for conflicts in tables without a choice of their own.
package enum ConflictChoice: String, CaseIterable, Sendable {
    /// ``ConflictRule/backend`` for a stream push, for calls that send the version that the client had seen, and for
    /// tables without a ledger; otherwise ``ConflictRule/stream``.
    case auto
    /// ``ConflictRule/stream``.
    case stream
    /// ``ConflictRule/backend``.
    case backend
    /// ``ConflictRule/none``.
    case none

    /// Returns the rule for a table.
    ///
    /// A push that overwrites the changes of others breaks push rule 5, so only an explicit choice of the operator
    /// allows it.
    func rule(for table: Table, hasStreamPush: Bool) -> ConflictRule {
        switch self {
        case .stream: return .stream
        case .backend: return .backend
        case .none: return .none
        case .auto: return hasStreamPush || table.calls.sendsVersion || !table.isLedgered ? .backend : .stream
        }
    }
}

/// Decides the outcome of a push without a cursor.
package enum CursorlessPushRule: String, CaseIterable, Sendable {
    /// The push is applied.
    case accept
    /// The push is refused with an error that the app's developers can read.
    case refuse
}

/// The importance of a log line; the names are those of swift-log.
package enum LogLevel: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
}

/// The form of a log line.
package enum LogFormat: String, CaseIterable, Sendable {
    /// Text for reading.
    case text
    /// One JSON object for each line.
    case json
}

/// The location of the state.
package enum StateLocation: Hashable, Sendable {
    /// A file; a relative path is kept as it is written, since earlier versions looked for it in the working directory.
    case sqlite(path: String, relativePath: String? = nil)
    /// A PostgreSQL database; the URL may hold a password.
    case postgres(url: Secret)

    /// Returns the location with a path that is relative to a file's directory.
    func seen(from file: String) -> StateLocation {
        guard case .sqlite(let path, _) = self, !path.hasPrefix("/") else { return self }
        return .sqlite(path: Configuration.resolve(path, relativeTo: file), relativePath: path)
    }

    /// Returns true if a text that stands for a location may be the URL of a PostgreSQL database.
    static func isPostgres(_ text: String) -> Bool { text.lowercased().hasPrefix("postgres") }
}

/// The source of a client's schema version instead of its query and body.
package enum VersionSource: Hashable, Sendable {
    /// A header field, its name in lower case.
    case header(name: String)
}

/// Holds bytes that never appear in a log, a message or a dump.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The bytes, for the one place that needs them.
    package let bytes: [UInt8]

    /// Hides these bytes.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Eight stars, for any bytes.
    package var description: String { "********" }
    /// Eight stars, for any bytes.
    package var debugDescription: String { description }
    /// An empty mirror.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
