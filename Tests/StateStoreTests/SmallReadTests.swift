// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SQLiteState
import StateStore
import SyncModel
import Testing

/// The reads of every pull, which take place in the caller's thread while a connection is at hand.
@Suite struct SmallReadTests {
    @Test(arguments: [0, 1, 8])
    func `every read sees the newest commit, however many of them share the connections`(readers: Int) async throws {
        try await withTemporaryDirectory { directory in
            let options = SQLiteStateStore.Options.with { $0.readersAtHand = readers }
            try await withSQLite(directory + "/state.db", options: options) { store in
                try await store.begin(row(1))
                for value: Int64 in 2...30 {
                    try await store.proceed(row(value, parent: value - 1))
                    try await withThrowingTaskGroup(of: Cursor?.self) { group in
                        for _ in 0..<16 { group.addTask { try await store.context(value).newest } }
                        for try await newest in group { #expect(newest?.rawValue == value) }
                    }
                }
            }
        }
    }

    @Test(arguments: [0, 1])
    func `a read of a cancelled task is not made`(readers: Int) async throws {
        try await withTemporaryDirectory { directory in
            let options = SQLiteStateStore.Options.with { $0.readersAtHand = readers }
            try await withSQLite(directory + "/state.db", options: options) { store in
                await withTaskGroup(of: Void.self) { group in
                    group.cancelAll()
                    group.addTask {
                        await #expect(throws: CancellationError.self) { try await store.context(1) }
                    }
                }
            }
        }
    }

    @Test func `a read of a closed state says so`() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteStateStore.open(path: directory + "/state.db")
            await store.close()
            await #expect(throws: StateError.closed) { try await store.context(1) }
        }
    }
}
