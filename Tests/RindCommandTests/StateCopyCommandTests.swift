// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
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
                return try await RunningCommand.run(arguments, directory: state.directory)
            }
            let file = "sqlite:rind-state.db"
            let busy = try await copy(file, url)
            #expect(busy.status == 75 && busy.error.contains("state.in_use"), "\(busy.error)")
            await state.store.close()
            let itself = try await copy(file, "sqlite:./rind-state.db")
            #expect(itself.status == 64 && itself.error.contains("the same file"), "\(itself.error)")
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

    @Test func `a copy that is killed again and again is complete in the end`() async throws {
        let url = try await PostgresServer.shared().url()
        let schema = "m" + UUID().uuidString.replacing("-", with: "").lowercased()
        try await StateFixture.with { state in
            try await state.addReplicas(1_500)
            await state.store.close()
            for (from, to) in [("sqlite:rind-state.db", url), (url, "sqlite:back.db")] {
                let arguments = ["state", "copy", "--from", from, "--to", to, "--schema", schema, "--json"]
                var kills = 0
                for attempt in 0..<8 {
                    let command = try RunningCommand(arguments, directory: state.directory)
                    try await Task.sleep(for: .milliseconds(Int.random(in: 50...50 + attempt * 80)))
                    command.signal(SIGKILL)
                    let finished = await command.finished()
                    if finished.status == 128 + SIGKILL { kills += 1 }
                    // It can have come to its end, after which the target has rows.
                    if finished.status == 0 { break }
                }
                let last = try await RunningCommand.run(arguments, directory: state.directory)
                #expect([0, 73].contains(last.status) && kills > 0, "after \(kills) kills: \(last.error)")
            }
            let counts = try await RunningCommand.run(
                ["state", "copy", "--from", "sqlite:back.db", "--to", "sqlite:again.db", "--json"],
                directory: state.directory
            )
            let tables = try JSONValue.parse(counts.out)["tables"]
            for table in ["principal", "replica", "cursor"] {
                #expect(tables?[table]?.int64 == (table == "principal" ? 1_502 : 1_503), "\(table)")
            }
        }
    }
}
