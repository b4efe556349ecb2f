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

    @Test(arguments: [false, true])
    func `no gateway starts under another key until the operator accepts it`(isDatabase: Bool) async throws {
        guard !isDatabase || PostgresServer.isInstalled else { return }
        var variables = Self.keys
        if isDatabase {
            let url = try await PostgresServer.shared().url()
            let schema = "k" + UUID().uuidString.replacing("-", with: "").lowercased()
            for index in variables.indices {
                variables[index].merge(["RIND_STATE_URL": url, "RIND_STATE_SCHEMA": schema]) { $1 }
            }
        }
        try await DemoBackend.withRunning { [variables] backend in
            try await Place.withDirectory { directory in
                let url = try await backend.url
                try await Self.play(Start(directory: directory, variables: variables, backend: url))
            }
        }
    }

    private static func play(_ place: Start) async throws {
        // Nobody has got anything from it yet.
        #expect(try await place.starts(1))
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
            let finished = try await RunningCommand(
                ["state", "accept-key", "--json", "--config", Place.quickstart] + more, environment: variables[key],
                directory: directory
            ).finished()
            #expect(finished.status == 0, "\(finished.error)")
            return try JSONValue.parse(finished.out)
        }
    }
}
