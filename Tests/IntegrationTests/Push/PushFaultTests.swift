// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// Pushes by REST calls that fail, come late or lose their answers, through gateways that end in the middle of them.
///
/// `RIND_TEST_SEED=7` plays one seed again; `RIND_TEST_PUSH_SEEDS=10000` says how many are played.
@Suite(.timeLimit(.minutes(30))) struct PushFaultTests {
    /// The seeds of long courses.
    static let seeds = seeds(upTo: 4)

    private static func seeds(upTo last: UInt64) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["RIND_TEST_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return Array(1...max(1, environment["RIND_TEST_PUSH_SEEDS"].flatMap { UInt64($0) } ?? last))
    }

    /// Lives through seeds and expects that all went well.
    private static func run(
        _ tables: FaultTables, _ seeds: [UInt64], _ manner: PushFaultCourse.Manner = PushFaultCourse.Manner()
    ) async throws {
        try await expectQuiet(tables, seeds) { try await PushFaultCourse.run(tables, seed: $0, manner) }
    }

    /// True for the codes with which calls that fail, gateways that end and other devices make a sync fail or a gateway
    /// warn.
    ///
    /// Another device may have deleted a record that one of this device is to belong to.
    private static func isExpected(_ code: String, of devices: Int) -> Bool {
        if code == "push.rejected" || code == "push.quarantined" { return devices > 1 }
        let others: Set = [
            "push.conflict", "push.outdated", "push.unknown_outcome", "push.half_applied", "push.unknown_create",
            "push.not_recorded", "request.cancelled", PushFaultCourse.Outcome.unheard, "network", "cut",
        ]
        return code.hasPrefix("backend.") || others.contains(code)
    }

    private static func expectQuiet(
        _ tables: FaultTables, _ seeds: [UInt64], _ live: (UInt64) async throws -> PushFaultCourse.Outcome
    ) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var sum = PushFaultCourse.Outcome()
        for seed in seeds {
            let outcome = try await live(seed)
            let calls = outcome.calls.joined(separator: "\n")
            #expect(outcome.problems == [], "seed \(seed), \(tables.devices) devices\n\(calls)")
            sum.failures.merge(outcome.failures, uniquingKeysWith: +)
            sum.warnings.formUnion(outcome.warnings)
            sum.faults += outcome.faults
            sum.stops += outcome.stops
            sum.compared += outcome.compared
            if seeds.count == 1 { sum.calls = outcome.calls }
        }
        if ProcessInfo.processInfo.environment["RIND_TEST_PUSH_SEEDS"] != nil {
            let each = (clock.now - start) / seeds.count
            let counts = "failures \(sum.failures), \(sum.faults) faults, \(sum.stops) stops, \(sum.compared) compared"
            let calls = sum.calls.joined(separator: "\n")
            print("\(tables.devices) devices: \(each) a seed; \(counts) \(calls)")
        }
        // A single seed may go well.
        let codes = sum.warnings.union(sum.failures.keys)
        #expect(codes.filter { !isExpected($0, of: tables.devices) } == [], "\(sum.failures), \(sum.warnings)")
        if seeds.count > 1 { #expect(!sum.failures.isEmpty && sum.faults > 0 && sum.stops > 0) }
    }

    /// Seeds that are lived through one after the other, each as another user, before one backend.
    struct Lane: Sendable, CustomTestStringConvertible {
        let name: String
        let tables: FaultTables
        let seeds: [UInt64]

        var testDescription: String { "\(name), seeds \(seeds.first ?? 0) to \(seeds.last ?? 0)" }
    }

    /// Short courses, a third for each way to make ids.
    static let lanes: [Lane] = {
        let kinds: [(String, FaultTables)] = [
            ("ids of clients", .clientIDs), ("integers, found by key", .numbered(finding: .key)),
            ("integers, found by reference", .numbered(finding: .reference)),
        ]
        let all = seeds(upTo: 120)
        return kinds.enumerated().flatMap { place, kind in
            let own = all.filter { $0 % 3 == UInt64(place) }
            return stride(from: 0, to: own.count, by: 40).map { start in
                Lane(name: kind.0, tables: kind.1, seeds: Array(own[start..<min(start + 40, own.count)]))
            }
        }
    }()

    @Test(arguments: lanes) func `in many short courses no record is lost and none comes twice`(
        _ lane: Lane
    ) async throws {
        var options = try lane.tables.options([:])
        options.backend.accounts += lane.seeds.map { FaultUser.number($0).account }
        try await GatewayStack.withBackend(options) { backend, directory in
            try await Self.expectQuiet(lane.tables, lane.seeds) { seed in
                let own = "\(directory)/\(seed)"
                try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(atPath: own) }
                let manner = PushFaultCourse.Manner.small(seed / 3 % 2 == 0 ? .stopped : .cut)
                return try await PushFaultCourse.run(lane.tables, seed: seed, manner, .number(seed), backend, own)
            }
        }
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
        let manner = PushFaultCourse.Manner(end: .killed)
        try await Self.run(FaultTables.clientIDs.written(by: devices), seeds, manner)
    }

    @Test(arguments: [StackOptions.LostAnswers.key, .reference], [1, 2])
    func `after quiet syncs a backend that makes ids has each record as the devices do, once`(
        _ means: StackOptions.LostAnswers, _ devices: Int
    ) async throws {
        try await Self.run(FaultTables.numbered(finding: means).written(by: devices), Self.seeds)
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
