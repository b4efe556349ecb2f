// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import JSONBytes
import SQLiteState
import StateStore
import SyncModel
import Testing

/// `rind state distrust`, while a gateway has the state.
@Suite struct DistrustTests {
    private static func context(_ state: StateFixture, of principal: Principal) async throws -> StoredPullContext {
        try await state.store.read(principal) {
            try ContextRule.context(
                of: &$0, session: Session(rawValue: "f0"), presented: try state.cursor(1_800_000_000_000))
        }
    }

    @Test func `after a restored backend all cursors are distrusted, and the ledgers are not`() async throws {
        try await StateFixture.with { state in
            let json = try await state.json("state", "distrust")
            #expect(json["restored"]?.string == "backend" && json["principals"]?.int64 == 2)
            for principal in [StateFixture.alice, StateFixture.bob] {
                #expect(try await Self.context(state, of: principal).distrustedAt >= 1_800_000_000_000)
            }
            let context = try await Self.context(state, of: StateFixture.alice)
            #expect(context.resyncAt == 0 && context.session.generation == 1)
            try await state.store.check(thoroughly: true)
        }
    }

    @Test func `after a restored state the ledgers are distrusted too`() async throws {
        try await StateFixture.with { state in
            let result = try await state.run("state", "distrust", "--restored", "state", "--principal", "a11ce")
            #expect(result.status == 0 && result.out.contains("get everything once more"), "\(result.error)")
            let context = try await Self.context(state, of: StateFixture.alice)
            #expect(context.distrustedAt > 0 && context.resyncAt == context.distrustedAt)
            #expect(try await Self.context(state, of: StateFixture.bob).distrustedAt == 0)
        }
    }

    @Test(
        arguments: [
            (["--user", "nobody"], 66), (["--restored", "both"], 64), (["--principal", "ffff"], 66),
        ] as [([String], Int32)])
    func `a mistake changes nothing`(_ arguments: [String], _ status: Int32) async throws {
        try await StateFixture.with { state in
            let all = ["state", "distrust"] + arguments + ["--config", Place.quickstart]
            let result = try await RunningCommand.run(all, directory: state.directory)
            #expect(result.status == status)
            #expect(try await Self.context(state, of: StateFixture.alice).distrustedAt == 0)
        }
    }
}
