// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Testing

/// Gateways that get `kill -9` at any moment while many clients pull and push.
@Suite(
    .serialized, .timeLimit(.minutes(30)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct KillTests {
    /// How clients' records get to the backend.
    enum Manner: String, CaseIterable, Sendable {
        /// One transaction for a push, with the ids of clients.
        case stream
        /// A call for each record, which gets an id of the backend's and is found again by its key.
        case calls

        var tables: FaultTables {
            switch self {
            case .calls: return .numbered(finding: .key)
            case .stream:
                let tables = FaultTables.clientIDs
                return FaultTables(
                    tables: tables.tables, schema: tables.schema, version: tables.version,
                    options: { StackOptions($0) })
            }
        }
    }

    @Test(arguments: Manner.allCases)
    func `kills under load lose nothing, double nothing and leave a sound state`(_ manner: Manner) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let (kills, users) = (SoakSettings.kills, SoakSettings.killUsers)
        let course = try await KillCourse.run(
            manner.tables, seed: SoakSettings.seeds[0], users: users, kills: kills)
        print("\(kills) kills, \(manner): \(course.report), \((clock.now - start).formatted)")
        #expect(course.load.problems.prefix(20).map(\.self) == [], "\(course.load.problems.count) in all")
        // A load that no kill meets says nothing.
        let outcomes = course.load.outcomes
        #expect(outcomes["synced", default: 0] > 0)
        for cut in ["pull cut", "push cut"] { #expect(outcomes[cut, default: 0] > 0, "no \(cut)") }
    }
}
