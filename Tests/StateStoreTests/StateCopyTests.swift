// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GRDB
import Logging
import NIOConcurrencyHelpers
import Postgres
import PostgresState
import PostgresTesting
import SQLiteState
import StateStore
import SyncModel
import Testing

/// States that move from one kind of store to another, with a copy that ends after each page and is begun again.
@Suite struct StateCopyTests {
    private struct Killed: Error {}

    /// Copies a page at a time, each time from the beginning of the command.
    ///
    /// - Returns: The number of rows, and how often the copy was cut short.
    private static func copy(
        from source: () async throws -> any ByteStore, to target: () async throws -> any ByteStore, page: Int = 3
    ) async throws -> (rows: Int, cuts: Int) {
        let seen = NIOLockedValueBox<Set<StateCopier.Step>>([])
        for cuts in 0..<10_000 {
            let copied = NIOLockedValueBox(0)
            let (from, to) = (try await source(), try await target())
            let copier = StateCopier(from: from, to: to, maximumPage: page) { step in
                guard case .copied = step, seen.withLockedValue({ $0.insert(step).inserted }) else { return }
                let isSecond = copied.withLockedValue { count in
                    count += 1
                    return count > 1
                }
                if isSecond { throw Killed() }
            }
            let result: Result<Int, any Error>
            do { result = .success(try await copier.run().reduce(0) { $0 + $1.rows }) } catch {
                result = .failure(error)
            }
            await from.close()
            await to.close()
            do { return (try result.get(), cuts) } catch is Killed { continue }
        }
        throw Killed()
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), arguments: 0..<2)
    func `a state goes on in PostgreSQL as if it had been there, and back in a file`(seed: Int) async throws {
        try await withTemporaryDirectory { directory in
            let (first, second) = (directory + "/a.db", directory + "/b.db")
            let logger = Logger(label: "test")
            let options = try await postgresOptions()
            let file = { (path: String) in try await SQLiteBytes.open(path: path) }
            let database = { try await PostgresStateStore.openBytes(options, creates: true, logger: logger) }
            var trial = ByteStoreTrial(try await file(first), seed: UInt64(seed) + 2_000)
            for _ in 0..<200 { try await trial.step() }
            await trial.other.close()
            for move in 0..<2 {
                let copied = try await Self.copy(
                    from: { move == 0 ? try await file(first) : try await database() },
                    to: { move == 0 ? try await database() : try await file(second) })
                #expect(copied.rows > 50 && copied.cuts > 5)
                trial.other = move == 0 ? try await database() : try await file(second)
                for _ in 0..<100 { try await trial.step() }
                await trial.other.close()
            }
            try await withSQLite(second) { try await $0.check(thoroughly: true) }
        }
    }

    @Test func `an unfinished copy opens for nobody, and a state with rows takes none`() async throws {
        try await withTemporaryDirectory { directory in
            let (first, second) = (directory + "/a.db", directory + "/b.db")
            try await withSQLite(first) { store in
                try await store.begin(row(1))
                await #expect(throws: StateError.self) {
                    _ = try await SQLiteStateStore.openBytes(path: first, creates: false)
                }
            }
            let source = try await SQLiteStateStore.openBytes(path: first, creates: false)
            var target = try await SQLiteStateStore.openBytes(path: second, creates: true)
            await #expect(throws: Killed.self) {
                _ = try await StateCopier(from: source, to: target) { _ in throw Killed() }.run()
            }
            await target.close()
            let unfinished = StateError.copying(path: second)
            await #expect(throws: unfinished) { try await withSQLite(second) { _ in } }
            await #expect(throws: unfinished) { try await withShared(second) { _ in } }
            target = try await SQLiteStateStore.openBytes(path: second, creates: true)
            _ = try await StateCopier(from: source, to: target) { _ in }.run()
            await #expect(throws: StateCopier.Failure.targetInUse) {
                _ = try await StateCopier(from: source, to: target) { _ in }.run()
            }
            await target.close()
            await source.close()
            let copy = try await withSQLite(second) { try await $0.context(1).row }
            #expect(try copy == row(1))
        }
    }

    @Test func `a source that goes on while it is copied is found out`() async throws {
        try await withTemporaryDirectory { directory in
            let (first, second) = (directory + "/a.db", directory + "/b.db")
            try await withSQLite(first) { try await $0.begin(row(1)) }
            let source = try await SQLiteStateStore.openBytes(path: first, creates: false)
            let target = try await SQLiteStateStore.openBytes(path: second, creates: true)
            // As a gateway on a database would, which no lock keeps away.
            await #expect(throws: StateCopier.Failure.different(.replica)) {
                _ = try await StateCopier(from: source, to: target) { step in
                    guard case .compared(.principal, _) = step else { return }
                    try sqlite(first) { try $0.execute(sql: "UPDATE replica SET rank = rank + 1") }
                }.run()
            }
            await target.close()
            await source.close()
        }
    }
}
