// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import PostgresTesting
import Testing

/// Three gateways on one state in PostgreSQL that are killed, stand still and lose their database.
@Suite(
    .serialized, .timeLimit(.minutes(60)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ChaosTests {
    @Test func `three gateways on one state lose nothing and double nothing`() async throws {
        let server = try await PostgresServer.fresh()
        let clock = ContinuousClock()
        var (outcomes, takeovers, losses) = ([String: Int](), 0, 0)
        for seed in SoakSettings.chaosSeeds {
            let start = clock.now
            let manner = seed % 2 == 0 ? KillTests.Manner.calls : .stream
            let course = try await ChaosCourse.run(manner.tables, seed: seed, on: server)
            print("chaos, seed \(seed), \(manner): \(course.report), \((clock.now - start).formatted)")
            let problems = course.load.problems
            #expect(problems.prefix(20).map(\.self) == [], "seed \(seed): \(problems.count) in all")
            outcomes.merge(course.load.outcomes) { $0 + $1 }
            #expect(course.takeovers > 0, "seed \(seed)")
            takeovers += course.takeovers
            losses += course.losses
        }
        print("chaos: \(takeovers) leases taken over, \(losses) lost during a sync")
        #expect(outcomes["synced", default: 0] > 0)
        try await server.stop("immediate")
    }
}
