// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Accounts
package import StateProbes
package import StateStore
import SyncModel

/// Opens states that are one SQLite file.
package enum SQLiteStateStore {
    /// The options for opening a file.
    package struct Options: Sendable {
        /// The limits on what is kept and how often it is written.
        package var limits = StateLimits()
        /// The longest wait for another process that has locked the file, such as a backup.
        package var busyTimeout: Duration = .seconds(5)
        /// The largest size of the file, in pages of 2 KiB; nil for no limit but the disk's.
        ///
        /// Above it every write throws ``StateError/full``.
        package var maximumPages: Int?
        /// Receives every statement before it runs, without its values; for tests and for diagnosing a slow state.
        package var trace: (@Sendable (String) -> Void)?
        /// Receives each fault of the open state once, and its end; called on the state's own threads.
        package var report: (@Sendable (StateEvent) -> Void)?

        /// Creates the default options.
        package init() {}
    }

    /// The purpose of a state that is opened beside a gateway's.
    package enum Purpose: Hashable, Sendable {
        /// Reading only: every write throws ``StateError/readOnly``.
        case reading
        /// Reading, and changing single things.
        case changing
    }

    /// Opens the state for a gateway, and creates it if there is none.
    ///
    /// A file that is not a state of Rind, or is of another form, is left untouched. Positions of before do not count:
    /// the file may be older than what the backend has seen, and asking the backend once is cheap (finding 4).
    package static func open(path: String, options: Options = Options()) async throws -> Accounts {
        let bytes = try await SQLiteBytes.open(path: path, options: options)
        return try await Accounts.open(bytes, limits: options.limits, epoch: bytes.epoch)
    }

    /// Opens a state that a gateway may be using, for the operator's commands.
    ///
    /// Takes no lock of Rind's. That lock keeps out a second gateway, which would not share the first one's session
    /// locks; a single transaction needs only SQLite's own locks, and waits for them up to `busyTimeout`. Nothing is
    /// created here.
    ///
    /// - Throws: ``StateError``: `open` also if there is no state yet.
    package static func openShared(
        path: String, for purpose: Purpose, options: Options = Options()
    ) async throws -> Accounts {
        let bytes = try await SQLiteBytes.openShared(path: path, for: purpose, options: options)
        return try await Accounts.open(bytes, limits: options.limits)
    }

    /// Opens the bytes of a state as a gateway does, to copy them.
    ///
    /// - Throws: ``StateError``: `open` if there is no state and none is to be created.
    package static func openBytes(path: String, creates: Bool) async throws -> any ByteStore {
        if !creates, try await inspect(path: path) == nil {
            throw StateError.open(path: path, reason: "no such file or directory")
        }
        return try await SQLiteBytes.open(path: path)
    }

    /// Returns the schema version of a state that may be in use; nil if there is no state yet.
    ///
    /// Takes no lock of Rind's, changes nothing, and throws the same errors as ``open(path:options:)``.
    package static func inspect(path: String, options: Options = Options()) async throws -> Int? {
        try await SQLiteBytes.onQueue(path) { file in
            guard file.identity != nil else { return nil }
            let version = try SQLiteBytes.version(of: file, options)
            return version == 0 ? nil : version
        }
    }
}
