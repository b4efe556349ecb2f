// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import NIOConcurrencyHelpers
import PostgresTesting
import Testing

/// Three gateways on one state in PostgreSQL that are killed, stand still and lose their database.
@Suite(
    .serialized, .timeLimit(.minutes(60)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ChaosTests {
    /// How many courses are played side by side, each with gateways and a database of its own: they mostly wait.
    private static let lanes = 6

    /// What all courses have come to.
    private struct Tally {
        var seeds = SoakSettings.chaosSeeds[...]
        var outcomes: [String: Int] = [:]
        var (courses, takeovers, losses) = (0, 0, 0)

        mutating func add(_ course: ChaosCourse) {
            outcomes.merge(course.load.outcomes, uniquingKeysWith: +)
            courses += 1
            takeovers += course.takeovers
            losses += course.losses
        }
    }

    @Test func `three gateways on one state lose nothing and double nothing`() async throws {
        let end = ContinuousClock.now + SoakSettings.chaosTime
        let box = NIOLockedValueBox(Tally())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(Self.lanes, SoakSettings.chaosSeeds.count) {
                group.addTask {
                    let server = try await PostgresServer.fresh()
                    repeat {
                        guard let seed = box.withLockedValue({ $0.seeds.popFirst() }) else { break }
                        let course = try await Self.play(seed, on: server)
                        box.withLockedValue { $0.add(course) }
                    } while .now < end
                    try await server.stop("immediate")
                }
            }
            try await group.waitForAll()
        }
        let tally = box.withLockedValue(\.self)
        print(
            "chaos: \(tally.courses) of \(SoakSettings.chaosSeeds.count) courses, \(tally.takeovers) leases taken over, "
                + "\(tally.losses) lost during a sync")
        #expect(tally.outcomes["synced", default: 0] > 0 && tally.takeovers > 0)
    }

    private static func play(_ seed: UInt64, on server: PostgresServer) async throws -> ChaosCourse {
        let start = ContinuousClock.now
        let manner = seed % 2 == 0 ? KillTests.Manner.calls : .stream
        let course = try await ChaosCourse.run(manner.tables, seed: seed, on: server)
        print("chaos, seed \(seed), \(manner): \(course.report), \((.now - start).formatted)")
        let problems = course.load.problems
        #expect(problems.prefix(20).map(\.self) == [], "seed \(seed): \(problems.count) in all")
        return course
    }
}
