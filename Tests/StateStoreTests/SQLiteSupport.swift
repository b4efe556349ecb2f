// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import NIOConcurrencyHelpers
import SQLiteState
import StateStore
import Testing

/// Opens a state, passes it to the body and closes it whatever happens.
@discardableResult
func withSQLite<R>(
    _ path: String, options: SQLiteStateStore.Options = SQLiteStateStore.Options(),
    _ body: (Accounts) async throws -> R
) async throws -> R {
    try await closing(SQLiteStateStore.open(path: path, options: options), body)
}

/// Opens a state beside whoever has it, passes it to the body and closes it whatever happens.
@discardableResult
func withShared<R>(
    _ path: String, for purpose: SQLiteStateStore.Purpose = .reading,
    options: SQLiteStateStore.Options = SQLiteStateStore.Options(), _ body: (Accounts) async throws -> R
) async throws -> R {
    try await closing(SQLiteStateStore.openShared(path: path, for: purpose, options: options), body)
}

/// Runs the body while another process has locked the file.
func withLocked(_ path: String, _ body: () async throws -> Void) async throws {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: path, configuration: configuration)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    try await body()
    try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    try other.close()
}

/// Opens a state in a file of its own, which is gone afterwards.
func withSQLite(
    options: SQLiteStateStore.Options = SQLiteStateStore.Options(), _ body: (Accounts) async throws -> Void
) async throws {
    try await withStateFile { try await withSQLite($0, options: options, body) }
}

/// A path where a state may be made, in a directory that is gone afterwards.
func withStateFile(_ body: (String) async throws -> Void) async throws {
    try await withTemporaryDirectory { try await body($0 + "/state.db") }
}

/// The statements that a store runs.
final class Statements: Sendable {
    private let texts = NIOLockedValueBox<[String]>([])

    /// Options of a store whose statements are to be known.
    var options: SQLiteStateStore.Options {
        .with { $0.trace = { [texts] text in texts.withLockedValue { $0.append(text) } } }
    }

    /// Those since this was last asked.
    func take() -> [String] {
        texts.withLockedValue { texts in
            defer { texts = [] }
            return texts
        }
    }
}

/// Another process, as it were, that works on the file with plain SQLite.
func sqlite<R>(_ path: String, _ body: (Database) throws -> R) throws -> R {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.writeWithoutTransaction(body)
}

/// The code of the error that opening this path gives; nil if it opens.
func codeOfOpening(_ path: String, options: SQLiteStateStore.Options = SQLiteStateStore.Options()) async -> String? {
    do {
        try await withSQLite(path, options: options) { _ in }
        return nil
    } catch let error as StateError {
        #expect(error.description.hasSuffix("."))
        return error.code
    } catch {
        return "\(error)"
    }
}

/// The names of what lies in the directory of a path.
func names(beside path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: URL(filePath: path).deletingLastPathComponent().path)
}

func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

extension SQLiteStateStore.Options {
    /// Options with some changes.
    static func with(_ change: (inout Self) -> Void) -> Self {
        var options = Self()
        change(&options)
        return options
    }
}
