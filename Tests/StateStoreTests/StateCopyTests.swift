// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
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
        from source: () async throws -> any CopySource, to target: () async throws -> any CopyTarget, page: Int = 3
    ) async throws -> (rows: Int, cuts: Int) {
        for cuts in 0..<10_000 {
            let copied = NIOLockedValueBox(0)
            let (from, to) = (try await source(), try await target())
            let copier = StateCopier(from: from, to: to, maximumPage: page) { step in
                guard case .copied(let table, _) = step, table != .meta else { return }
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
            switch result {
            case .success(let rows): return (rows, cuts)
            case .failure(let error): guard error is Killed else { throw error }
            }
        }
        throw Killed()
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), arguments: 0..<2)
    func `a state goes on in PostgreSQL as if it had been there, and back in a file`(seed: Int) async throws {
        try await withTemporaryDirectory { directory in
            let (first, second) = (directory + "/a.db", directory + "/b.db")
            var trial = StoreTrial(
                reference: AccountStore(), other: try await SQLiteStateStore.open(path: first),
                seed: UInt64(seed) + 2_000)
            for _ in 0..<60 { try await trial.step() }
            await trial.other.close()
            let options = try await postgresOptions()
            let logger = Logger(label: "test")
            let there = try await Self.copy(
                from: { try await SQLiteStateCopy.openSource(path: first) },
                to: { try await PostgresStateCopy.openTarget(options, logger: logger) })
            #expect(there.rows > 50 && there.cuts > 5)
            try await withPostgres(options) { store in
                try await trial.goOn(with: store)
                for _ in 0..<40 { try await trial.step() }
            }
            let back = try await Self.copy(
                from: { try await PostgresStateCopy.openSource(options, logger: logger) },
                to: { try await SQLiteStateCopy.openTarget(path: second) })
            #expect(back.rows > 50 && back.cuts > 5)
            let store = try await SQLiteStateStore.open(path: second)
            try await trial.goOn(with: store)
            for _ in 0..<40 { try await trial.step() }
            try await store.check(thoroughly: true)
            await store.close()
        }
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `every column is copied, except the positions`() async throws {
        let options = try await postgresOptions()
        try await withPostgres(options) { _ in }
        let names: PostgresStatement = """
            SELECT table_name::text, column_name::text FROM information_schema.columns
            WHERE table_schema = current_schema()
            """
        var found: [String: Set<String>] = [:]
        for row in try await sql(options, names).first?.rows ?? [] {
            found[try row.text(0), default: []].insert(try row.text(1))
        }
        for table in CopiedTable.allCases {
            let columns = Set(table.columns.map(\.name)).union(table == .session ? ["position"] : [])
            #expect(found[table.rawValue] == columns, "\(table)")
        }
    }

    @Test func `an unfinished copy opens for nobody, and a state with rows takes none`() async throws {
        try await withTemporaryDirectory { directory in
            let (first, second) = (directory + "/a.db", directory + "/b.db")
            let store = try await SQLiteStateStore.open(path: first)
            try await store.begin(row(1))
            await #expect(throws: StateError.self) { _ = try await SQLiteStateCopy.openSource(path: first) }
            await store.close()
            let source = try await SQLiteStateCopy.openSource(path: first)
            var target = try await SQLiteStateCopy.openTarget(path: second)
            await #expect(throws: Killed.self) {
                _ = try await StateCopier(from: source, to: target) { _ in throw Killed() }.run()
            }
            await target.close()
            let unfinished = StateError.copying(path: second)
            await #expect(throws: unfinished) { _ = try await SQLiteStateStore.open(path: second) }
            await #expect(throws: unfinished) { _ = try await SQLiteStateStore.inspect(path: second) }
            await #expect(throws: unfinished) {
                _ = try await SQLiteStateStore.openShared(path: second, for: .reading)
            }
            target = try await SQLiteStateCopy.openTarget(path: second)
            _ = try await StateCopier(from: source, to: target) { _ in }.run()
            await #expect(throws: StateCopier.Failure.targetInUse) {
                _ = try await StateCopier(from: source, to: target) { _ in }.run()
            }
            await target.close()
            await source.close()
            let copy = try await SQLiteStateStore.open(path: second)
            #expect(try await copy.context(1).row == row(1))
            await copy.close()
        }
    }

    @Test func `a source that goes on while it is copied is found out`() async throws {
        try await withTemporaryDirectory { directory in
            let (first, second) = (directory + "/a.db", directory + "/b.db")
            let store = try await SQLiteStateStore.open(path: first)
            try await store.begin(row(1))
            await store.close()
            let source = try await SQLiteStateCopy.openSource(path: first)
            let target = try await SQLiteStateCopy.openTarget(path: second)
            // As a gateway on a database would, which no lock keeps away.
            let isDone = NIOLockedValueBox(false)
            await #expect(throws: StateCopier.Failure.different(.principal)) {
                let copier = StateCopier(from: source, to: target) { step in
                    guard case .compared = step, !isDone.withLockedValue({ $0 }) else { return }
                    isDone.withLockedValue { $0 = true }
                    throw Killed()
                }
                do { _ = try await copier.run() } catch is Killed {}
                let shared = try await SQLiteStateStore.openShared(path: first, for: .changing)
                try await shared.confirm(principal: alice, cursor: cursor(1), at: now + 86_400_000)
                try await shared.begin(row(2, replica: 2))
                await shared.close()
                _ = try await copier.run()
            }
            await target.close()
            await source.close()
        }
    }
}
