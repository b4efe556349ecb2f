// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

/// A state that was written while the clock was ahead.
@Suite struct AcceptedClockTests {
    private static let year: Int64 = 365 * 86_400_000
    private static let now: Instant = 1_800_000_000_000

    @Test func `cursors lead by as much as the clock was ahead, for ever`() async throws {
        try await withStateFile { path in
            var store = try await SQLiteStateStore.open(path: path)
            #expect(store.cursorLead == 0)
            let newest = Self.now + Self.year
            try await store.commit(newest.milliseconds, at: newest)
            #expect(try await store.commands.acceptClock(at: Self.now) == Self.year + 1)
            await store.close()
            store = try await SQLiteStateStore.open(path: path)
            #expect(store.cursorLead == Self.year + 1)
            // What is handed out next is above everything that was handed out, without being counted on from it.
            #expect(Self.now + store.cursorLead > newest)
            try await store.commit((Self.now + store.cursorLead).milliseconds, at: Self.now)
            await #expect(throws: StateError.self) { try await store.commit(newest.milliseconds, at: Self.now) }
            // A clock that is taken for right once more makes no lead smaller.
            #expect(try await store.commands.acceptClock(at: Self.now + Self.year) == Self.year + 1)
            let seen = try await store.replicas().map(\.lastSeen)
            #expect(seen.allSatisfy { $0 <= Self.now })
            await store.close()
        }
    }
}

extension Accounts {
    fileprivate func commit(_ number: Int64, at now: Instant) async throws {
        try await commit(PullCommit(row: row(number, replica: number), replica: .new, now: now))
    }
}
