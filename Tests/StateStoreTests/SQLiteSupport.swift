// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import SQLiteState
import StateStore
import Testing

/// Opens a state, passes it to the body and closes it whatever happens.
@discardableResult
func withSQLite<R>(
    _ path: String, options: SQLiteStateStore.Options = SQLiteStateStore.Options(),
    _ body: (Accounts) async throws -> R
) async throws -> R {
    let store = try await SQLiteStateStore.open(path: path, options: options)
    do {
        let result = try await body(store)
        await store.close()
        return result
    } catch {
        await store.close()
        throw error
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
