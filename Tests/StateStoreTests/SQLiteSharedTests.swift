// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import NIOConcurrencyHelpers
import StateStore
import SyncModel
import Testing

@testable import SQLiteState

/// Opens a state beside whoever has it, passes it to the body and closes it whatever happens.
@discardableResult
func withShared<R>(
    _ path: String, for purpose: SQLiteStateStore.Purpose = .reading,
    options: SQLiteStateStore.Options = SQLiteStateStore.Options(), _ body: (Accounts) async throws -> R
) async throws -> R {
    let store = try await SQLiteStateStore.openShared(path: path, for: purpose, options: options)
    do {
        let result = try await body(store)
        await store.close()
        return result
    } catch {
        await store.close()
        throw error
    }
}

@Suite struct SQLiteSharedTests {
    @Test func `a state is read while a gateway has it, up to the newest commit`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                try await store.begin(row(1))
                try await withShared(path) { other in
                    let before = try await other.inspection.replicas(of: nil, after: nil, limit: 9)
                    #expect(before.map(\.newest?.rawValue) == [1])
                    try await store.begin(row(2, replica: 2))
                    let after = try await other.inspection.replicas(of: nil, after: nil, limit: 9)
                    #expect(after.map(\.newest?.rawValue) == [1, 2])
                }
                // The one that was closed has taken nothing with it.
                await #expect(throws: StateError.self) { try await SQLiteStateStore.open(path: path) }
                try await store.proceed(row(3, parent: 1))
                try await store.check(thoroughly: true)
            }
        }
    }

    @Test func `who only reads changes nothing`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let first = try row(1)
            try await withSQLite(path) { store in
                try await store.begin(first)
                try await store.change(alice) {
                    try SessionRules.setPosition(.at(first.vector), of: phone, at: now, in: &$0)
                }
                try await withShared(path) { other in
                    await #expect(throws: StateError.readOnly) { try await other.begin(row(2, replica: 2)) }
                    await #expect(throws: StateError.readOnly) {
                        _ = try await other.commands.distrust(because: .backend, of: nil, at: now)
                    }
                }
                // Opening as a gateway does would have forgotten it.
                #expect(try await store.context().session.position == .at(first.vector))
            }
            let before = try contents(path)
            let newest = try await withShared(path) { try await $0.newestCursor() }
            #expect(newest?.rawValue == 1)
            let after = try contents(path)
            #expect(after == before)
        }
    }

    @Test func `both write in turn, and each sees what the other has written`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                try await store.begin(row(1))
                try await withShared(path, for: .changing) { other in
                    for value in 2..<50 {
                        let replica = Int64(value)
                        async let mine: Void = store.proceed(row(Int64(value), parent: 1))
                        async let others: Void = other.begin(row(Int64(value), of: bob, replica: replica))
                        _ = try await (mine, others)
                    }
                    let others = try await store.inspection.replicas(of: bob, after: nil, limit: 99)
                    #expect(others.count == 8)
                    let mine = try await other.context(49)
                    #expect(mine.row != nil)
                }
                try await store.check(thoroughly: true)
            }
        }
    }

    @Test func `changes wait for the disk as a gateway's do`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { try await $0.begin(row(1)) }
            let statements = NIOLockedValueBox<[String]>([])
            let options = SQLiteStateStore.Options.with {
                $0.trace = { sql in statements.withLockedValue { $0.append(sql) } }
            }
            try await withShared(path, for: .changing, options: options) { _ in }
            let settings = statements.withLockedValue { $0 }
                .filter { $0.lowercased().hasPrefix("pragma synchronous =") }
            #expect(settings.last == "PRAGMA synchronous = FULL")
        }
    }

    @Test func `a change that finds the file locked waits no longer than it was told`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { try await $0.begin(row(1)) }
            let options = SQLiteStateStore.Options.with { $0.busyTimeout = .milliseconds(50) }
            try await withShared(path, for: .changing, options: options) { other in
                var configuration = Configuration()
                configuration.allowsUnsafeTransactions = true
                let third = try DatabaseQueue(path: path, configuration: configuration)
                try await third.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                await #expect(throws: StateError.busy) { try await other.begin(row(2, replica: 2)) }
                try await third.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
                try third.close()
            }
        }
    }

    @Test(arguments: [SQLiteStateStore.Purpose.reading, .changing])
    func `nothing is made where there is no state`(purpose: SQLiteStateStore.Purpose) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            await #expect(throws: StateError.open(path: path, reason: "no such file or directory")) {
                try await withShared(path, for: purpose) { _ in }
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(names.isEmpty)
            try Data().write(to: URL(filePath: path))
            await #expect(throws: StateError.open(path: path, reason: "there is no state in it yet")) {
                try await withShared(path, for: purpose) { _ in }
            }
            try Data(String(repeating: "Dear diary, ", count: 999).utf8).write(to: URL(filePath: path))
            await #expect(throws: StateError.notRind(path: path)) { try await withShared(path, for: purpose) { _ in } }
        }
    }

    @Test(arguments: [(SQLiteSchema.version - 1, "state.outdated"), (SQLiteSchema.version + 1, "state.schema_newer")])
    func `a state of another schema version is left as it is`(version: Int, code: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { try await $0.begin(row(1)) }
            try sqlite(path) { try $0.execute(sql: "PRAGMA user_version = \(version)") }
            let before = try contents(path)
            for purpose in [SQLiteStateStore.Purpose.reading, .changing] {
                let error = await #expect(throws: StateError.self) {
                    try await withShared(path, for: purpose) { _ in }
                }
                #expect(error?.code == code)
            }
            #expect(await codeOfOpening(path) == code)
            #expect(try contents(path) == before)
        }
    }
}
