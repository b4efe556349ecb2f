// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresTesting
import Testing

/// `examples/two-gateways`, as a reader runs it.
@Suite(.timeLimit(.minutes(5))) struct TwoGatewaysTests {
    /// True if nginx is there; build machines must have it.
    private static let hasNginx =
        ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].contains {
            FileManager.default.isExecutableFile(atPath: $0)
        } || ProcessInfo.processInfo.environment["CI"] == "true"

    @Test(.enabled(if: hasNginx && PostgresServer.isInstalled, "nginx or PostgreSQL is not installed"))
    func `a device goes on when one of two gateways is killed, and no record is lost or doubled`() async throws {
        let script = Place.root.appending(path: "examples/two-gateways/run.sh").path(percentEncoded: false)
        // Below the ports that the system gives to connections.
        let port = Int.random(in: 1_000..<3_000) * 10
        let finished = try await RunningCommand.run(
            [script, RunningCommand.executable], program: "/bin/bash", environment: ["PORT": "\(port)"]
        )
        #expect(finished.status == 0 && finished.out.hasSuffix("== Everything was right\n"), "\(finished)")
    }

    @Test func `the backend of the example runs alone, and has no tour`() async throws {
        let refused = try await RunningCommand.run(["demo", "--backend-only", "--once"])
        #expect(refused.status == 64 && refused.error.contains("--backend-only has none"), "\(refused.error)")
    }

    @Test func `the backend that runs alone says which tokens its users have, and so does its help`() async throws {
        let alone = try RunningCommand(["demo", "--backend-only", "--port", "0"])
        let said = await alone.outMatch("Authorization: Bearer ada-token.*bob-token")
        alone.signal(SIGTERM)
        #expect(said != nil)
        _ = await alone.finished()
        let help = try await RunningCommand.run("help", "demo")
        #expect(help.out.contains("ada-token and bob-token"), "\(help.out)")
    }
}
