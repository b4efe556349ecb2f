// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel
import Testing

@testable import Gateway

/// Which refused tokens show that the call that sets checkpoints leads nowhere.
@Suite struct AckRefusalTests {
    private let refusals = AckRefusals()

    private func note(_ session: String = "a", cursor: Int64?, at now: Instant) -> Bool {
        refusals.note(session, presented: cursor.flatMap(Cursor.init), at: now)
    }

    @Test func `tokens that were handed out after a refusal are the second ones`() {
        #expect(!note(cursor: 900, at: 1_000))
        #expect(note(cursor: 1_001, at: 1_100))
        #expect(note(cursor: 1_001, at: 1_200))
    }

    @Test(arguments: [900, 500, 1_000, nil]) func `tokens of before show nothing`(_ cursor: Int64?) {
        #expect(!note(cursor: 900, at: 1_000))
        #expect(!note(cursor: cursor, at: 1_100))
    }

    @Test func `tokens that were taken, and the refusals of another session, show nothing`() {
        #expect(!note(cursor: 900, at: 1_000))
        #expect(!note("b", cursor: 1_001, at: 1_100))
        refusals.forget("a")
        #expect(!note(cursor: 1_001, at: 1_100))
    }

    @Test func `an hour later one more stream is tried`() {
        #expect(!note(cursor: 900, at: 1_000))
        #expect(note(cursor: 1_001, at: 1_000 + AckRefusals.lifetime - 1))
        #expect(!note(cursor: 1_001, at: 1_000 + AckRefusals.lifetime))
        #expect(!note(cursor: 1_001, at: 1_001 + AckRefusals.lifetime))
    }
}
