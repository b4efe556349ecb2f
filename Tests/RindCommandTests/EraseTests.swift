// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import JSONBytes
import SQLiteState
import StateStore
import Testing

/// `rind principals erase`, while a gateway has the state.
@Suite struct EraseTests {
    @Test func `a user is erased, and the report says what was there`() async throws {
        try await StateFixture.with { state in
            let json = try await state.json("principals", "erase", "--principal", "a11ce")
            #expect(json["tables"]?["replica"]?.int64 == 2 && json["tables"]?["principal"]?.int64 == 1)
            #expect(json["rows"]?.int64 ?? 0 > 3)
            let rest = try await state.store.inspection.replicas(of: nil, after: nil, limit: 9).map(\.id)
            #expect(rest == [StateFixture.other])
            try await state.store.check(thoroughly: true)
            let again = try await state.run("principals", "erase", "--principal", "a11ce")
            #expect(again.status == 66 && again.error.contains("There is no principal a11ce"))
        }
    }

    @Test func `the report is a table`() async throws {
        try await StateFixture.with { state in
            let result = try await state.run("principals", "erase", "--principal", "b0b0")
            #expect(result.status == 0, "\(result.error)")
            #expect(result.out.hasPrefix("Erased of principal b0b0") && result.out.contains("\n  replica  "))
        }
    }

    @Test(arguments: [[], ["17", "--principal", "a11ce"], [""]] as [[String]])
    func `one user has to be named`(_ arguments: [String]) async throws {
        try await StateFixture.with { state in
            let all = ["principals", "erase"] + arguments + ["--config", Place.quickstart]
            let result = try await RunningCommand.run(all, directory: state.directory)
            #expect(result.status == 64)
            #expect(try await state.store.inspection.replicas(of: nil, after: nil, limit: 9).count == 3)
        }
    }
}
