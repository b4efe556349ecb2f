// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import StateStore
import SyncModel
import Testing

@testable import SQLiteState

@Suite struct SQLiteSharedTests {
    @Test func `a state is read while a gateway has it, up to the newest commit`() async throws {
        try await withSQLite { store in
            let path = store.location
            try await store.begin(row(1))
            try await withShared(path) { other in
                #expect(try await other.replicas().map(\.newest?.rawValue) == [1])
                try await store.begin(row(2, replica: 2))
                #expect(try await other.replicas().map(\.newest?.rawValue) == [1, 2])
            }
            // The one that was closed has taken nothing with it.
            await #expect(throws: StateError.self) { try await SQLiteStateStore.open(path: path) }
            try await store.proceed(row(3, parent: 1))
            try await store.check(thoroughly: true)
        }
    }

    @Test func `who only reads changes nothing`() async throws {
        try await withStateFile { path in
            let first = try row(1)
            try await withSQLite(path) { store in
                try await store.begin(first)
                try await store.setPosition(.at(first.vector))
                try await withShared(path) { other in
                    let refused = StateError.readOnly(
                        "SQLite may not write '\(path)' (attempt to write a readonly database)")
                    await #expect(throws: refused) { try await other.begin(row(2, replica: 2)) }
                    await #expect(throws: refused) {
                        _ = try await other.commands.distrust(because: .backend, of: nil, at: now)
                    }
                }
                // Opening as a gateway does would have forgotten it.
                #expect(try await store.position() == .at(first.vector))
            }
            let before = try contents(path)
            let newest = try await withShared(path) { try await $0.newestCursor() }
            #expect(newest?.rawValue == 1)
            #expect(try contents(path) == before)
        }
    }

    @Test func `both write in turn, and each sees what the other has written`() async throws {
        try await withSQLite { store in
            try await store.begin(row(1))
            try await withShared(store.location, for: .changing) { other in
                for value: Int64 in 2..<50 {
                    async let mine: Void = store.proceed(row(value, parent: 1))
                    async let others: Void = other.begin(row(value, of: bob, replica: value))
                    _ = try await (mine, others)
                }
                #expect(try await store.replicas(of: bob).count == 48)
                #expect(try await other.context(49).row != nil)
            }
            try await store.check(thoroughly: true)
        }
    }

    @Test func `a change that finds the file locked waits no longer than it was told`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { try await $0.begin(row(1)) }
            try await withShared(path, for: .changing, options: .with { $0.busyTimeout = .milliseconds(50) }) { other in
                try await withLocked(path) {
                    await #expect(throws: StateError.busy) { try await other.begin(row(2, replica: 2)) }
                }
            }
        }
    }

    @Test(arguments: [SQLiteStateStore.Purpose.reading, .changing])
    func `nothing is made where there is no state`(purpose: SQLiteStateStore.Purpose) async throws {
        try await withStateFile { path in
            func expect(_ error: StateError) async {
                await #expect(throws: error) { try await withShared(path, for: purpose) { _ in } }
            }
            await expect(.open(path: path, reason: "no such file or directory"))
            #expect(try names(beside: path).isEmpty)
            try Data().write(to: URL(filePath: path))
            await expect(.open(path: path, reason: "there is no state in it yet"))
            try Data(String(repeating: "Dear diary, ", count: 999).utf8).write(to: URL(filePath: path))
            await expect(.notRind(path: path))
        }
    }

    @Test(arguments: [(SQLiteSchema.version - 1, "state.outdated"), (SQLiteSchema.version + 1, "state.schema_newer")])
    func `a state of another schema version is left as it is`(version: Int, code: String) async throws {
        try await withStateFile { path in
            try await withSQLite(path) { try await $0.begin(row(1)) }
            try sqlite(path) { try $0.execute(sql: "PRAGMA user_version = \(version)") }
            let before = try contents(path)
            for purpose in [SQLiteStateStore.Purpose.reading, .changing] {
                let error = await #expect(throws: StateError.self) { try await withShared(path, for: purpose) { _ in } }
                #expect(error?.code == code)
            }
            #expect(await codeOfOpening(path) == code)
            #expect(try contents(path) == before)
        }
    }
}
