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
        try await Place.withDirectory { [variables] directory in
            let place = Start(directory: directory, variables: variables)
            let first = try await place.starts(0)
            #expect(first)
            #expect(try await place.starts(0))
            #expect(try await !place.starts(1))
            #expect(try await place.accept(0)["other_key"]?.bool == false)
            #expect(try await place.accept(1)["other_key"]?.bool == true)
            #expect(try await !place.starts(1))
            #expect(try await place.accept(1, "--yes")["changed"]?.bool == true)
            #expect(try await place.starts(1))
            #expect(try await !place.starts(0))
        }
    }

    /// Gateways and commands with one of several keys.
    private struct Start {
        let directory: URL
        let variables: [[String: String]]

        func starts(_ key: Int) async throws -> Bool {
            let command = try ServedGateway.start(in: directory, environment: variables[key])
            let isUp = await command.errorMatch(#"port"?[=:]"?[0-9]+"#) != nil
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
