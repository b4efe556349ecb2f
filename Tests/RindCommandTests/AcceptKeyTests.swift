// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import JSONBytes
import PostgresTesting
import Testing

/// A state under another identity key than the one that it was written under.
@Suite(.timeLimit(.minutes(5))) struct AcceptKeyTests {
    private static let keys = ["a", "b"].map { ["RIND_IDENTITY_KEY": String(repeating: $0, count: 40)] }

    @Test func `a file from which nobody has got anything takes any key`() async throws {
        try await Self.with(Self.keys) { place in
            let first = try await place.starts(1)
            #expect(first)
            #expect(try await place.starts(0))
            #expect(try await place.starts(1))
        }
    }

    @Test func `no gateway starts on a file under another key until the operator accepts it`() async throws {
        try await Self.with(Self.keys) { try await Self.play($0) }
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `no gateway starts on a database under another key until the operator accepts it`() async throws {
        let url = try await PostgresServer.shared().url()
        let schema = "k" + UUID().uuidString.replacing("-", with: "").lowercased()
        let variables = Self.keys.map { $0.merging(["RIND_STATE_URL": url, "RIND_STATE_SCHEMA": schema]) { $1 } }
        try await Self.with(variables) { place in
            // Other gateways may run on it by now, so it keeps its first key although nobody has got anything.
            let first = try await place.starts(0)
            #expect(first)
            #expect(try await !place.starts(1))
            try await Self.play(place)
        }
    }

    private static func with(
        _ variables: [[String: String]], _ body: (Start) async throws -> Void
    ) async throws {
        try await DemoBackend.withRunning { backend in
            try await Place.withDirectory { directory in
                try await body(Start(directory: directory, variables: variables, backend: try await backend.url))
            }
        }
    }

    private static func play(_ place: Start) async throws {
        #expect(try await place.starts(0, pulling: true))
        #expect(try await !place.starts(1))
        #expect(try await place.accept(0)["other_key"]?.bool == false)
        #expect(try await place.accept(1)["other_key"]?.bool == true)
        #expect(try await !place.starts(1))
        #expect(try await place.accept(1, "--yes")["changed"]?.bool == true)
        #expect(try await place.starts(1))
        #expect(try await !place.starts(0))
    }

    /// Gateways and commands with one of several keys.
    private struct Start {
        let directory: URL
        let variables: [[String: String]]
        let backend: String

        func starts(_ key: Int, pulling: Bool = false) async throws -> Bool {
            let command = try ServedGateway.start(in: directory, backend: backend, environment: variables[key])
            let port = await command.errorMatch("listener=clients port=[0-9]+").flatMap {
                Int($0.drop { !$0.isNumber })
            }
            let isUp = port != nil
            if let port, pulling {
                let gateway = ServedGateway(command: command, port: port, directory: directory)
                #expect(try await gateway.get("/sync?last_pulled_at=null", token: "ada-token").status == 200)
            }
            command.signal(SIGTERM)
            let finished = await command.finished()
            if !isUp {
                #expect(finished.status == 78 && finished.error.contains("identity.other_key"), "\(finished.error)")
            }
            return isUp
        }

        func accept(_ key: Int, _ more: String...) async throws -> JSONValue {
            let finished = try await RunningCommand.run(
                ["state", "accept-key", "--json", "--config", Place.quickstart] + more, environment: variables[key],
                directory: directory
            )
            #expect(finished.status == 0, "\(finished.error)")
            return try JSONValue.parse(finished.out)
        }
    }
}
