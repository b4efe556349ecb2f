// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import NIOConcurrencyHelpers
import Testing

@testable import SQLiteState
@testable import StateProbes
@testable import StateStore

@Suite struct StateWatchTests {
    /// A store whose events are collected.
    private func withEvents(
        _ body: (Accounts, String, @Sendable () -> [StateEvent]) async throws -> Void
    ) async throws {
        let events = NIOLockedValueBox<[StateEvent]>([])
        let options = SQLiteStateStore.Options.with {
            $0.report = { event in events.withLockedValue { $0.append(event) } }
            $0.busyTimeout = .milliseconds(50)
        }
        try await withSQLite(options: options) { store in
            try await body(store, store.location) { events.withLockedValue(\.self) }
        }
    }

    @Test(arguments: ["moved", "removed", "replaced"])
    func `whatever reads or writes fails at once when the file is another, and one event tells`(
        how: String
    ) async throws {
        try await withEvents { store, path, events in
            try await store.begin(row(1))
            try await store.checkWriting(within: .seconds(3_600))
            let files = FileManager.default
            switch how {
            case "moved": try files.moveItem(atPath: path, toPath: path + ".old")
            case "removed": for end in ["", "-wal", "-shm"] { try files.removeItem(atPath: path + end) }
            default:
                try files.copyItem(atPath: path, toPath: path + ".copy")
                try files.removeItem(atPath: path)
                try files.moveItem(atPath: path + ".copy", toPath: path)
            }
            let replaced = StateError.replaced(path: path)
            await #expect(throws: replaced) { try await store.begin(row(2, replica: 2)) }
            await #expect(throws: replaced) { _ = try await store.context(1) }
            await #expect(throws: replaced) { _ = try await store.stageLayer(at: now) }
            await #expect(throws: replaced) { try await store.check(thoroughly: false) }
            #expect(events() == [.failed(replaced, path: path)])
        }
    }

    @Test func `many reads at once of a file that was moved fail alike, and it is served again when it comes back`()
        async throws
    {
        try await withEvents { store, path, events in
            try await store.begin(row(1))
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            let replaced = StateError.replaced(path: path)
            // Also those that open a connection.
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<16 { group.addTask { await #expect(throws: replaced) { _ = try await store.context(1) } } }
            }
            #expect(events() == [.failed(replaced, path: path)])
            try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
            try await store.proceed(row(2, parent: 1))
        }
    }

    /// Opens another program's connection to a file.
    private static func other(_ path: String) throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Opens a copy of the file alone, as the start after a kill would find it.
    private static func expectSaved(_ path: String) async throws {
        let (copy, files) = (path + ".copy", FileManager.default)
        for _ in 0..<1_000 {
            try? files.removeItem(atPath: copy)
            try files.copyItem(atPath: path, toPath: copy)
            if (try? await withSQLite(copy) { try await $0.context(1).row }) == .some(.some(try row(1))) { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("the file does not have what was in the log")
    }

    @Test(arguments: ["-wal", "-shm"], ["removed", "replaced"])
    func `a log or an index that is gone is noticed, and what the log had is moved into the file`(
        end: String, how: String
    ) async throws {
        try await withEvents { store, path, events in
            try await store.begin(row(1))
            let (files, lost) = (FileManager.default, path + end)
            try files.moveItem(atPath: lost, toPath: path + ".old")
            if how == "replaced" { try Data().write(to: URL(filePath: lost)) }
            let replaced = StateError.replaced(path: lost)
            await #expect(throws: replaced) { try await store.proceed(row(2, parent: 1)) }
            await #expect(throws: replaced) { _ = try await store.context(1) }
            #expect(events() == [.failed(replaced, path: path)])
            // Who has begun another index may have written.
            if end == "-wal" || how == "removed" { try await Self.expectSaved(path) }
            await store.close()
            let left = try await withSQLite(path) { try await $0.context(1).row }
            #expect(left != nil)
        }
    }

    @Test func `a log that comes back is gone on with`() async throws {
        try await withEvents { store, path, _ in
            try await store.begin(row(1))
            let (files, log) = (FileManager.default, path + "-wal")
            try files.moveItem(atPath: log, toPath: log + ".old")
            await #expect(throws: StateError.replaced(path: log)) { try await store.proceed(row(2, parent: 1)) }
            try files.moveItem(atPath: log + ".old", toPath: log)
            try await store.proceed(row(2, parent: 1))
            await store.close()
            let left = try await withSQLite(path) { try await $0.context(2).row }
            #expect(left != nil)
        }
    }

    @Test func `a log that another program has begun stays as it is when the gateway stops`() async throws {
        try await withEvents { store, path, _ in
            try await store.begin(row(1))
            let (files, log) = (FileManager.default, path + "-wal")
            let before = try Data(contentsOf: URL(filePath: path))
            try files.moveItem(atPath: log, toPath: log + ".old")
            try Data("another log".utf8).write(to: URL(filePath: log))
            await #expect(throws: StateError.replaced(path: log)) { try await store.proceed(row(2, parent: 1)) }
            await store.close()
            #expect(try Data(contentsOf: URL(filePath: log)) == Data("another log".utf8))
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }
    }

    @Test func `if another program keeps what a lost log had from being moved, the stop says so`() async throws {
        try await withEvents { store, path, events in
            let reader = try Self.other(path)
            try await reader.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN")
                _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM entry")
            }
            try await store.begin(row(1))
            try FileManager.default.removeItem(atPath: path + "-wal")
            await store.close()
            #expect(events() == [.failed(.corrupt("what a lost '-wal' had is not in the file"), path: path)])
            try await reader.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        }
    }

    @Test func `what backups and other programs do is no loss`() async throws {
        try await withEvents { store, path, events in
            try await store.begin(row(1))
            for sql in ["VACUUM INTO '\(path).backup'", "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM"] {
                try await Self.other(path).writeWithoutTransaction { try $0.execute(sql: sql) }
                try await store.checkWriting(within: .seconds(3_600))
            }
            try await store.proceed(row(2, parent: 1))
            #expect(events().isEmpty)
        }
    }

    @Test func `what happens to one user is no event`() async throws {
        try await withEvents { store, _, events in
            try await store.begin(row(1))
            await #expect(throws: StateError.self) { try await store.begin(row(1, replica: 2)) }
            #expect(events().isEmpty)
        }
    }

    @Test func `a fault is told once, and once that it is over`() {
        let start = ContinuousClock.now
        var faults = StateFaults()
        func failed(_ error: StateError, after seconds: Int) -> Bool {
            faults.failed(error, at: start + .seconds(seconds))
        }
        func committed(after seconds: Int) -> [String] { faults.committed(at: start + .seconds(seconds)) }
        #expect(committed(after: 0) == [])
        #expect(failed(.full, after: 0))
        #expect(!failed(.full, after: 1))
        // Small commits succeed in between.
        #expect(committed(after: 5) == [])
        #expect(!failed(.full, after: 8))
        #expect(failed(.io("x"), after: 9))
        #expect(committed(after: 18) == ["state.full"])
        #expect(failed(.full, after: 19))
        #expect(committed(after: 40) == ["state.full", "state.io"])
        #expect(committed(after: 41) == [])
        #expect(!failed(.ledgerChanged, after: 42) && !failed(.closed, after: 42))
        // A damaged page stays damaged, whatever is written to the others.
        #expect(failed(.corrupt("x"), after: 43))
        #expect(committed(after: 99) == [])
        #expect(!failed(.corrupt("y"), after: 100))
    }

    @Test func `every fault says what to do`() {
        let faults: [StateError] = [
            .full, .busy, .readOnly("x"), .replaced(path: "/s"), .io("x"), .corrupt("x"), .notRind(path: "/s"),
            .open(path: "/s", reason: "x"),
        ]
        for fault in faults { #expect(fault.advice?.isEmpty == false) }
        #expect(StateError.closed.advice == nil && StateError.slow.advice == nil)
    }
}
