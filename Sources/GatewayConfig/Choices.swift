// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// What happens to a cursor that was never handed out, or to somebody else.
package enum UnknownCursorRule: String, CaseIterable, Sendable {
    /// A new replica begins: everything in `updated`, nothing is wiped.
    case adopt
    /// `experimentalStrategy: "replacement"`; only where the app hands it on to WatermelonDB.
    case replacement
    /// A clear error.
    case refuse
}

/// How much of a quarantined line is kept for the operator.
package enum QuarantineRule: String, CaseIterable, Sendable {
    /// Nothing but the reason and the place.
    case no
    /// The first 1024 bytes.
    case cut
    /// All of it.
    case whole
}

/// Whether the gateway remembers which records each device holds.
package enum LedgerMode: String, CaseIterable, Sendable {
    /// It does.
    case full
    /// It does not: what comes again goes out again, and nothing is deleted for absence.
    case off
}

/// What an update of a record carries to the backend.
package enum PushedColumns: String, CaseIterable, Sendable {
    /// All writable columns that the client sent.
    case row
    /// Those of them that the client says it has changed.
    case changed
}

/// What a pushed record means that the backend will never take.
package enum RejectedRecordRule: String, CaseIterable, Sendable {
    /// The push fails with a sentence that names the record.
    case fail
    /// The others are applied, and the answer names it; only where the app hands push answers on to WatermelonDB.
    case report
    /// It is set aside for the operator, and the client hears that it was taken.
    case quarantine
}

/// Who looks for conflicts in tables that do not say otherwise.
package enum ConflictChoice: String, CaseIterable, Sendable {
    /// The backend where it is told what the client had seen, else the gateway, else nobody.
    case auto
    /// ``ConflictRule/stream``.
    case stream
    /// ``ConflictRule/backend``.
    case backend
    /// ``ConflictRule/none``.
    case none

    /// The rule for a table.
    ///
    /// A push that overwrites what others have written breaks push rule 5, so that it takes a word of the operator's.
    func rule(for table: Table, hasStreamPush: Bool) -> ConflictRule {
        switch self {
        case .stream: return .stream
        case .backend: return .backend
        case .none: return .none
        case .auto: return hasStreamPush || table.calls.tellVersion || !table.isLedgered ? .backend : .stream
        }
    }
}

/// What a push means that does not say what its client had seen.
package enum CursorlessPushRule: String, CaseIterable, Sendable {
    /// It is applied.
    case accept
    /// It is refused with an error that its developers can read.
    case refuse
}

/// Who keeps the checkpoints of a stream.
package enum CheckpointStyle: String, CaseIterable, Sendable {
    /// The backend, one vector for each session, moved by ack calls.
    case server
    /// The gateway alone; the tokens travel in the stream request.
    case request
}

/// How important a log line is; the names are those of swift-log.
package enum LogLevel: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
}

/// How a log line looks.
package enum LogFormat: String, CaseIterable, Sendable {
    /// For people.
    case text
    /// One JSON object a line.
    case json
}

/// Where the state is.
package enum StateLocation: Hashable, Sendable {
    /// A file; a relative path is relative to the working directory.
    case sqlite(path: String)
}

/// Where the caller's lasting name comes from.
package enum PrincipalSource: Hashable, Sendable {
    /// The value at `path` of the backend's answer to `method target`, sent with the caller's credential.
    case backend(method: String, target: String, path: Path)
    /// The value of a cookie.
    case cookie(name: String)
    /// The bearer token itself; only where tokens live as long as the installation.
    case bearer
}

/// What tells a client's schema version instead of its query and body.
package enum VersionSource: Hashable, Sendable {
    /// A header field, its name in lower case.
    case header(name: String)
}

/// Bytes that never appear in a log, a message or a dump.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The bytes, for the one place that needs them.
    package let bytes: [UInt8]

    /// Hides these bytes.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Stars, whatever the bytes.
    package var description: String { "********" }
    /// Stars, whatever the bytes.
    package var debugDescription: String { description }
    /// Nothing to look into.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
