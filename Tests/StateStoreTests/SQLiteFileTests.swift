// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct SQLiteFileTests {
    @Test func `the files are readable for their owner alone`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                try await store.begin(row(1))
                for suffix in ["", "-wal", "-shm", ".lock"] { #expect(try mode(path + suffix) == 0o600) }
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            try await withSQLite(path) { _ in
                let modes = try ["", "-wal", "-shm"].map { try mode(path + $0) }
                #expect(modes == [0o600, 0o600, 0o600])
            }
        }
    }

    @Test func `what was committed is there after closing and opening again`() async throws {
        try await withStateFile { path in
            let first = try row(1, schemaVersion: 3)
            try await withSQLite(path) { store in
                try await store.begin(first)
                try await store.setPosition(.at(first.vector))
                try await store.raiseGeneration(of: tablet)
            }
            try await withSQLite(path) { store in
                #expect(try await store.context(1).row == first)
                #expect(try await store.context(session: tablet).session.generation == 1)
                // The file may be older than what the backend has seen since.
                #expect(try await store.position() == .unknown)
                try await store.check(thoroughly: true)
            }
        }
    }

    @Test func `4: after a restart on the same file every position is unknown`() async throws {
        try await withStateFile { path in
            let first = try row(1)
            try await withSQLite(path) { store in
                try await store.begin(first)
                try await store.setPosition(.at(first.vector))
                #expect(try await store.position() == .at(first.vector))
            }
            try await withSQLite(path) { store in
                let position = try await store.position()
                #expect(position == .unknown)
            }
        }
    }

    @Test func `every commit waits for the disk`() async throws {
        try await withStateFile { path in
            let statements = Statements()
            try await withSQLite(path, options: statements.options) { store in
                #expect(statements.take().last(where: isAboutTheDisk) == "PRAGMA synchronous = FULL")
                try await store.begin(row(1))
                #expect(!statements.take().contains(where: isAboutTheDisk))
            }
            #expect(try sqlite(path) { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
            // Those who change it beside a gateway wait likewise.
            try await withShared(path, for: .changing, options: statements.options) { _ in }
            #expect(statements.take().last(where: isAboutTheDisk) == "PRAGMA synchronous = FULL")
        }
    }

    private func isAboutTheDisk(_ statement: String) -> Bool {
        statement.lowercased().hasPrefix("pragma synchronous =")
    }

    @Test func `7: a state has one gateway, so that no other one moves checkpoints behind its back`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try FileManager.default.createSymbolicLink(atPath: directory + "/link.db", withDestinationPath: "state.db")
            try await withSQLite(path) { store in
                let inUse = StateError.inUse(path: path, holder: "\(ProcessInfo.processInfo.processIdentifier)")
                for other in [path, directory + "/link.db", directory + "/./state.db"] {
                    await #expect(throws: inUse) { try await SQLiteStateStore.open(path: other) }
                }
                try await store.begin(row(1))
                #expect(try await SQLiteStateStore.inspect(path: path) == 16)
                try await store.check(thoroughly: false)
            }
            #expect(await codeOfOpening(path) == nil)
        }
    }

    @Test func `a file with two names is refused, since each would have a lock of its own`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { try await $0.begin(row(1)) }
            try FileManager.default.linkItem(atPath: path, toPath: path + "-2")
            for name in [path, path + "-2"] { #expect(await codeOfOpening(name) == "state.open") }
            try FileManager.default.removeItem(atPath: path + "-2")
            try await withSQLite(path) { store in
                let row = try await store.context(1).row
                #expect(row != nil)
            }
        }
    }

    @Test func `a store that was dropped gives the state free`() async throws {
        try await withStateFile { path in
            _ = try await SQLiteStateStore.open(path: path)
            // The queue that has run the store's last block lets go of it in its own time.
            var code = await codeOfOpening(path)
            for _ in 0..<500 where code != nil {
                try await Task.sleep(for: .milliseconds(10))
                code = await codeOfOpening(path)
            }
            #expect(code == nil)
        }
    }

    @Test func `after closing everything says that it is closed`() async throws {
        try await withSQLite { store in
            await store.close()
            await #expect(throws: StateError.closed) { try await store.begin(row(1)) }
            await #expect(throws: StateError.closed) { _ = try await store.context() }
            await #expect(throws: StateError.closed) { try await store.check(thoroughly: false) }
        }
    }

    @Test(arguments: ["", "/nowhere/at/all/state.db", ".", "/dev/null", "/etc/passwd/state.db", "a\u{0}b"])
    func `a path that cannot be a state says why`(path: String) async {
        #expect(await codeOfOpening(path) == "state.open")
        await #expect(throws: StateError.self) { _ = try await SQLiteStateStore.inspect(path: path) }
    }

    @Test func `a state that is not there yet is told apart by inspection and not made`() async throws {
        try await withStateFile { path in
            let found = try await SQLiteStateStore.inspect(path: path)
            #expect(found == nil)
            #expect(try names(beside: path).isEmpty)
        }
    }

    @Test(arguments: ["text", "short", "foreign", "tampered"])
    func `a file that is something else stays as it is`(kind: String) async throws {
        try await withStateFile { path in
            switch kind {
            case "text": try Data(String(repeating: "Dear diary, ", count: 999).utf8).write(to: URL(filePath: path))
            case "short": try Data("x".utf8).write(to: URL(filePath: path))
            default:
                try sqlite(path) { db in
                    try db.execute(sql: "CREATE TABLE recipe (name TEXT)")
                    if kind == "tampered" {
                        try db.execute(sql: "PRAGMA application_id = \(SQLiteBytes.applicationID)")
                    }
                }
            }
            let before = try contents(path)
            #expect(await codeOfOpening(path) == "state.not_rind")
            await #expect(throws: StateError.notRind(path: path)) { _ = try await SQLiteStateStore.inspect(path: path) }
            #expect(try contents(path) == before)
        }
    }

    @Test func `a file that is locked by another process for long gives an error and loses nothing`() async throws {
        try await withSQLite(options: .with { $0.busyTimeout = .milliseconds(50) }) { store in
            try await store.begin(row(1))
            try await withLocked(store.location) {
                await #expect(throws: StateError.busy) { try await store.begin(row(2, replica: 2)) }
                await #expect(throws: StateError.busy) { try await store.check(thoroughly: false) }
                // Reading goes on.
                let found = try await store.context(1).row
                #expect(found != nil)
            }
            try await store.begin(row(2, replica: 2))
            try await store.check(thoroughly: true)
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write everywhere"))
    func `a directory without the right to write gives an error`() async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: directory)
            #expect(await codeOfOpening(directory + "/state.db") == "state.open")
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write everywhere"))
    func `a file without the right to write gives an error`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { try await $0.begin(row(1)) }
            try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
            #expect(await codeOfOpening(path) == "state.read_only")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let newest = try await withSQLite(path) { try await $0.context().newest }
            #expect(newest?.rawValue == 1)
        }
    }
}
