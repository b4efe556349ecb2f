// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import PostgresState
import PostgresTesting
import SQLiteState
import StateStore
import Testing

/// Two kinds of stores that are asked the same.
@Suite struct StoreAgreementTests {
    private static let seeds = ProcessInfo.processInfo.environment["RIND_TEST_STORE_SEEDS"].flatMap(Int.init) ?? 2

    @Test(arguments: 0..<seeds)
    func `whatever is done to both, SQLite answers as the store in memory does`(seed: Int) async throws {
        try await withTemporaryDirectory { directory in
            try await withSQLite(directory + "/state.db") { store in
                var trial = StoreTrial(reference: Accounts(), other: store, seed: UInt64(seed))
                for _ in 0..<80 { try await trial.step() }
                #expect(trial.agreed > 1_000)
            }
        }
    }

    @Test(
        .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), arguments: 0..<seeds)
    func `whatever is done to both, PostgreSQL answers as the store in memory does`(seed: Int) async throws {
        try await withPostgres(try await postgresOptions()) { store in
            var trial = StoreTrial(reference: Accounts(), other: store, seed: UInt64(seed) + 1_000)
            for _ in 0..<80 { try await trial.step() }
            #expect(trial.agreed > 1_000)
        }
    }
}
