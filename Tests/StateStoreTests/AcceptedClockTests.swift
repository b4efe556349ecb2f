// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import SQLiteState
import StateStore
import SyncModel
import Testing

/// A state that was written while the clock was ahead.
@Suite struct AcceptedClockTests {
    private static let year: Int64 = 365 * 86_400_000

    private static func begin(_ value: Instant, in store: Accounts, at time: Instant = now) async throws {
        try await store.begin(row(value.milliseconds, replica: value.milliseconds), at: time)
    }

    @Test func `cursors lead by as much as the clock was ahead, for ever`() async throws {
        try await withStateFile { path in
            let newest = now + Self.year
            try await withSQLite(path) { store in
                #expect(store.cursorLead == 0)
                try await Self.begin(newest, in: store, at: newest)
                #expect(try await store.commands.acceptClock(at: now) == Self.year + 1)
            }
            try await withSQLite(path) { store in
                #expect(store.cursorLead == Self.year + 1)
                // What is handed out next is above everything that was handed out, without being counted on from it.
                #expect(now + store.cursorLead > newest)
                try await Self.begin(now + store.cursorLead, in: store)
                await #expect(throws: StateError.self) { try await Self.begin(newest, in: store) }
                // A clock that is taken for right once more makes no lead smaller.
                #expect(try await store.commands.acceptClock(at: now + Self.year) == Self.year + 1)
                #expect(try await store.replicas().allSatisfy { $0.lastSeen <= now })
            }
        }
    }
}
