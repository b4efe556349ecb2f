// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GatewayConfig
import Logging
import Postgres
import PostgresState
import SQLiteState
import StateProbes
import StateStore
import SyncModel

/// A state with all that the commands ask of it.
typealias CommandState = Accounts

extension Configuration {
    /// Opens the state for a gateway: creates it and brings its schema up to date if necessary.
    func openState(report: (@Sendable (StateEvent) -> Void)? = nil, logger: Logger) async throws -> CommandState {
        switch state.url {
        case .sqlite(let path, _):
            var options = sqliteOptions
            options.report = report
            return try await SQLiteStateStore.open(path: path, options: options)
        case .postgres(let url):
            var options = postgresOptions(url)
            options.report = report
            return try await PostgresStateStore.open(options, logger: logger)
        }
    }

    /// Opens the state beside gateways that may be running, passes it to the body, and always closes it.
    func withState<R>(
        for purpose: SQLiteStateStore.Purpose, _ body: (CommandState) async throws -> R
    ) async throws -> R {
        switch state.url {
        case .sqlite(let path, _):
            try await closing(
                await SQLiteStateStore.openShared(path: path, for: purpose, options: sqliteOptions), after: body)
        case .postgres(let url):
            try await closing(
                await PostgresStateStore.openShared(postgresOptions(url), logger: .silent), after: body)
        }
    }

    /// Passes a state to the body, and closes it whatever happens.
    func closing<R>(
        _ store: CommandState, after body: (CommandState) async throws -> R
    ) async throws -> R {
        let result: Result<R, any Error>
        do { result = .success(try await body(store)) } catch { result = .failure(error) }
        await store.close()
        return try result.get()
    }

    /// The options for opening a file.
    var sqliteOptions: SQLiteStateStore.Options {
        var options = SQLiteStateStore.Options()
        options.busyTimeout = state.busyTimeout
        options.limits = stateLimits
        return options
    }

    /// Returns the options for opening a database.
    func postgresOptions(_ url: Secret) -> PostgresStateStore.Options {
        var options = PostgresStateStore.Options(conninfo: String(decoding: url.bytes, as: UTF8.self))
        options.schema = state.schema
        options.timeout = state.statementTimeout
        options.limits = stateLimits
        options.connections.maximumConnections = state.poolSize
        options.connections.connectTimeout = state.connectTimeout
        options.connections.lockTimeout = min(state.busyTimeout, state.statementTimeout)
        options.connections.preparesStatements = state.preparesStatements
        return options
    }

    /// The location of the state without secrets, for the operator.
    var stateLocation: String {
        switch state.url {
        case .sqlite(let path, _): path
        case .postgres(let url):
            (try? ConnectionInfo(String(decoding: url.bytes, as: UTF8.self)))
                .map { "postgresql \($0) schema=\(state.schema)" } ?? "postgresql schema=\(state.schema)"
        }
    }

    private var stateLimits: StateLimits {
        var limits = StateLimits()
        // What the configuration wants whole is not cut by the store.
        if pull.quarantineKeep == .whole { limits.quarantineBytes = pull.maxLine }
        let caches = MemoryNeed.caches(self)
        (limits.keptBytes, limits.keptChunkBytes) = (caches.heads, caches.chunks)
        return limits
    }
}

extension StateError {
    /// Says which user may not do what at the path of the state's file; nil if that is not the fault.
    var whoMayNot: String? {
        guard case .open(let path, _) = self else { return nil }
        let fault = PathFault(path, for: R_OK | W_OK)
        if case .refused(let user) = fault { return "\(user) may not read and write it" }
        guard fault == .missing else { return fault.explanation }
        let directory = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        guard case .refused(let user) = PathFault(directory, for: W_OK | X_OK) else { return nil }
        return "\(user) may not write in \(directory)"
    }
}

extension Logger {
    /// A log that takes nothing, for commands whose output is their result.
    static var silent: Logger { Logger(label: "rind.state") { _ in SwiftLogNoOpLogHandler() } }
}
