// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// Pushes by REST calls that fail, come late or lose their answers, through gateways that end in the middle of them.
///
/// `RIND_TEST_SEED=7` plays one seed again; `RIND_TEST_PUSH_SEEDS=1000` plays more of them.
@Suite(.timeLimit(.minutes(30))) struct PushFaultTests {
    static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["RIND_TEST_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return Array(1...(environment["RIND_TEST_PUSH_SEEDS"].flatMap { UInt64($0) } ?? 20))
    }()

    /// Lives through seeds and expects that all went well.
    private static func run(
        _ tables: FaultTables, _ seeds: [UInt64], _ end: PushFaultCourse.End = .stopped
    ) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var sum = PushFaultCourse.Outcome()
        for seed in seeds {
            let outcome = try await PushFaultCourse.run(tables, seed: seed, end: end)
            let calls = outcome.calls.joined(separator: "\n")
            #expect(outcome.problems == [], "seed \(seed), \(tables.devices) devices\n\(calls)")
            sum.failures += outcome.failures
            sum.faults += outcome.faults
            sum.stops += outcome.stops
            sum.swept += outcome.swept
            if seeds.count == 1 { sum.calls = outcome.calls }
        }
        if ProcessInfo.processInfo.environment["RIND_TEST_PUSH_SEEDS"] != nil {
            let each = (clock.now - start) / seeds.count
            let counts =
                "\(sum.failures) failures, \(sum.faults) faults, \(sum.stops) stops, \(sum.swept) swept \(sum.calls.joined(separator: "\n"))"
            Issue.record("\(tables.devices) devices: \(each) a seed; \(counts)", severity: .warning)
        }
        // A single seed may go well.
        if seeds.count > 1 { #expect(sum.failures > 0 && sum.faults > 0 && sum.stops > 0) }
    }

    @Test(arguments: [1, 2])
    func `after quiet syncs the backend has each record of client-made ids as the devices do, once`(
        _ devices: Int
    ) async throws {
        try await Self.run(FaultTables.clientIDs.written(by: devices), Self.seeds)
    }

    @Test(.enabled(if: GatewayProcess.isBuilt, "the program rind is not built"), arguments: [1, 2])
    func `the same holds where the gateway's process is killed`(_ devices: Int) async throws {
        let seeds = Array(Self.seeds.prefix(max(4, Self.seeds.count / 5)))
        try await Self.run(FaultTables.clientIDs.written(by: devices), seeds, .killed)
    }

    @Test func `such a course finds records that come twice`() async throws {
        let tables = FaultTables(
            tables: FaultTables.clientIDs.tables, schema: .quickstart, version: 3,
            options: { overrides in
                var options = try StackOptions.pushingByCalls(overrides)
                // A backend that makes ids, which nothing in the configuration says.
                options.backend.acceptsClientIDs = false
                return options
            })
        let problems = try await PushFaultCourse.run(tables, seed: 1).problems
        #expect(problems.contains { $0.contains("times in the backend") || $0.contains("times on the device") })
    }
}
