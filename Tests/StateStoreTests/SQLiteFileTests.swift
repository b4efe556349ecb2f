// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import NIOConcurrencyHelpers
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct SQLiteFileTests {
    @Test func `the files are readable for their owner alone`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                try await store.begin(row(1))
                for suffix in ["", "-wal", "-shm", ".lock"] { #expect(try mode(path + suffix) == 0o600) }
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            try await withSQLite(path) { _ in
                for suffix in ["", "-wal", "-shm"] {
                    let found = try mode(path + suffix)
                    #expect(found == 0o600)
                }
            }
        }
    }

    @Test func `what was committed is there after closing and opening again`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let first = try row(1, schemaVersion: 3)
            try await withSQLite(path) { store in
                try await store.begin(first)
                try await store.change(alice) {
                    try SessionRules.setPosition(.at(first.vector), of: phone, at: now, in: &$0)
                }
                _ = try await store.change(alice) { try SessionRules.raiseGeneration(of: tablet, at: now, in: &$0) }
            }
            try await withSQLite(path) { store in
                #expect(try await store.context(1).row == first)
                let other = try await store.read(alice) {
                    try ContextRule.context(of: &$0, session: tablet, presented: nil)
                }
                #expect(other.session.generation == 1)
                // The file may be older than what the backend has seen since.
                #expect(try await store.context().session.position == .unknown)
                try await store.check(thoroughly: true)
            }
        }
    }

    @Test func `every commit waits for the disk`() async throws {
        try await withTemporaryDirectory { directory in
            let statements = NIOLockedValueBox<[String]>([])
            let options = SQLiteStateStore.Options.with {
                $0.trace = { sql in statements.withLockedValue { $0.append(sql) } }
            }
            try await withSQLite(directory + "/state.db", options: options) { _ in }
            let settings = statements.withLockedValue { $0 }
                .filter { $0.lowercased().hasPrefix("pragma synchronous =") }
            #expect(settings.last == "PRAGMA synchronous = FULL")
            #expect(
                try sqlite(directory + "/state.db") { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        }
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
                #expect(try await SQLiteStateStore.inspect(path: path) == 14)
                try await store.check(thoroughly: false)
            }
            #expect(await codeOfOpening(path) == nil)
        }
    }

    @Test func `a store that was dropped gives the state free`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
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
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteStateStore.open(path: directory + "/state.db")
            await store.close()
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
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            #expect(try await SQLiteStateStore.inspect(path: path) == nil)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(names.isEmpty)
        }
    }

    @Test(arguments: ["text", "short", "foreign", "tampered"])
    func `a file that is something else stays as it is`(kind: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            switch kind {
            case "text": try Data(String(repeating: "Dear diary, ", count: 999).utf8).write(to: URL(filePath: path))
            case "short": try Data("x".utf8).write(to: URL(filePath: path))
            case "foreign": try sqlite(path) { try $0.execute(sql: "CREATE TABLE recipe (name TEXT)") }
            default:
                try sqlite(path) {
                    try $0.execute(sql: "PRAGMA application_id = \(SQLiteBytes.applicationID)")
                    try $0.execute(sql: "CREATE TABLE recipe (name TEXT)")
                }
            }
            let before = try contents(path)
            #expect(await codeOfOpening(path) == "state.not_rind")
            await #expect(throws: StateError.notRind(path: path)) {
                _ = try await SQLiteStateStore.inspect(path: path)
            }
            #expect(try contents(path) == before)
        }
    }

    @Test func `a file that is locked by another process for long gives an error and loses nothing`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let options = SQLiteStateStore.Options.with { $0.busyTimeout = .milliseconds(50) }
            try await withSQLite(path, options: options) { store in
                try await store.begin(row(1))
                var configuration = Configuration()
                configuration.allowsUnsafeTransactions = true
                let other = try DatabaseQueue(path: path, configuration: configuration)
                try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                await #expect(throws: StateError.busy) { try await store.begin(row(2, replica: 2)) }
                await #expect(throws: StateError.busy) { try await store.check(thoroughly: false) }
                // Reading goes on.
                #expect(try await store.context(1).row != nil)
                try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
                try other.close()
                try await store.begin(row(2, replica: 2))
                try await store.check(thoroughly: true)
            }
        }
    }

    @Test func `a file that was replaced under the gateway's feet is noticed`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                try await store.check(thoroughly: false)
                try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                await #expect(throws: StateError.replaced(path: path)) { try await store.check(thoroughly: false) }
                try Data().write(to: URL(filePath: path))
                await #expect(throws: StateError.replaced(path: path)) { try await store.check(thoroughly: false) }
            }
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
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { try await $0.begin(row(1)) }
            try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
            #expect(await codeOfOpening(path) == "state.read_only")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let newest = try await withSQLite(path) { try await $0.context().newest }
            #expect(newest?.rawValue == 1)
        }
    }
}
