// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes
import PostgresTesting
import SQLiteState
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct StateCopyCommandTests {
    @Test func `a state moves into a database and back, and is taken from no gateway`() async throws {
        let url = try await PostgresServer.shared().url()
        let schema = "m" + UUID().uuidString.replacing("-", with: "").lowercased()
        try await StateFixture.with { state in
            func copy(_ from: String, _ to: String) async throws -> Finished {
                let arguments = ["state", "copy", "--from", from, "--to", to, "--schema", schema, "--json"]
                return try await RunningCommand(arguments, directory: state.directory).finished()
            }
            let file = "sqlite:rind-state.db"
            let busy = try await copy(file, url)
            #expect(busy.status == 75 && busy.error.contains("state.in_use"), "\(busy.error)")
            await state.store.close()
            let there = try await copy(file, url)
            #expect(there.status == 0, "\(there.error)")
            let tables = try JSONValue.parse(there.out)["tables"]
            #expect(tables?["replica"]?.int64 == 3)
            let again = try await copy(file, url)
            #expect(again.status == 73 && again.error.contains("state.not_empty"), "\(again.error)")
            let back = try await copy(url, "sqlite:back.db")
            #expect(back.status == 0, "\(back.error)")
            #expect(try JSONValue.parse(back.out)["tables"] == tables)
            #expect(try await copy("rind-state.db", url).status == 64)
        }
    }
}
