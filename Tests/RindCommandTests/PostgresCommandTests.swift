// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import JSONBytes
import PostgresTesting
import Testing

/// The commands on a state in PostgreSQL, which may run while a gateway does.
@Suite(.timeLimit(.minutes(10)), .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresCommandTests {
    /// A database in which a role with a password has a schema.
    private static func environment() async throws -> [String: String] {
        let server = try await PostgresServer.shared()
        let schema = "c" + UUID().uuidString.replacing("-", with: "").lowercased()
        return [
            "RIND_STATE_URL": "postgresql://postgres:hidden-word@/postgres?sslmode=disable&gssencmode=disable",
            "PGHOST": "127.0.0.1", "PGPORT": "\(server.port)", "RIND_STATE_SCHEMA": schema,
            "RIND_STATE_STATEMENT_TIMEOUT": "30s",
        ]
    }

    private static func run(
        _ arguments: [String], _ environment: [String: String], in directory: URL
    ) async throws -> Finished {
        let result = try await RunningCommand.run(
            arguments + ["--config", Place.quickstart], environment: environment, directory: directory
        )
        #expect(!(result.out + result.error).contains("hidden-word"))
        return result
    }

    @Test func `migrate says what is due, does it, and then has nothing to do`() async throws {
        let environment = try await Self.environment()
        try await Place.withDirectory { directory in
            let early = try await Self.run(["replicas", "list"], environment, in: directory)
            #expect(early.status == 73 && early.error.contains("state.open"), "\(early.error)")
            for (arguments, line) in [
                (["migrate", "--dry-run"], "Due: schema version 10; nothing was changed."),
                (["migrate"], "Made: schema version 10."),
                (["migrate"], "Nothing is due."),
            ] {
                let result = try await Self.run(arguments, environment, in: directory)
                #expect(result.status == 0, "\(result.error)")
                #expect(result.out.contains(line), "\(result.out)")
            }
            let list = try await Self.run(["replicas", "list"], environment, in: directory)
            #expect(list.status == 0, "\(list.error)")
            let file = try await Self.run(["migrate"], [:], in: directory)
            #expect(file.status == 78)
        }
    }

    @Test func `commands see and change what a running gateway keeps`() async throws {
        let environment = try await Self.environment()
        try await DemoBackend.withRunning { backend in
            try await ServedGateway.with(backend, environment: environment) { gateway in
                #expect(try await gateway.get("/sync?last_pulled_at=null", token: "ada-token").status == 200)
                let list = try await Self.run(["replicas", "list", "--json"], environment, in: gateway.directory)
                let replicas = try JSONValue.parse(list.out)["replicas"]
                let id = try #require(replicas?.array?.first?["id"]?.string)
                let resync = try await Self.run(
                    ["replicas", "resync", id], environment, in: gateway.directory)
                #expect(resync.status == 0, "\(resync.error)")
                for arguments in [["quarantine", "list"], ["journal", "list"], ["replicas", "show", id]] {
                    let result = try await Self.run(arguments, environment, in: gateway.directory)
                    #expect(result.status == 0, "\(result.error)")
                }
                let check = try await Self.run(
                    ["check", "--connect"],
                    environment.merging(["RIND_BACKEND_URL": try await backend.url]) { own, _ in own },
                    in: gateway.directory)
                #expect(check.out.contains("can be used (schema version 10)"), "\(check.out)")
                #expect(!gateway.command.errorText.contains("hidden-word"))
            }
        }
    }
}
