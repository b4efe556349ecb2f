// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import NIOConcurrencyHelpers
import Testing

/// Most pulls in production bring nothing: what one of them costs, counted and not timed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct IdlePullCostTests {
    /// Pulls until no pull writes anything; then the body gets a function that pulls once more.
    private static func withIdlePulls(
        _ http: RawHTTPClient, _ body: (() async throws -> Void) async throws -> Void
    ) async throws {
        try await http.withPulls { first, pull in
            func pullOnce() async throws { try #require(try await pull(first).cursor == first) }
            for _ in 0..<20 { try await pullOnce() }
            try await body(pullOnce)
        }
    }

    @Test func `an idle pull runs as few statements of the state as it did`() async throws {
        try await CountedGateway.withStatements { stack, statements in
            try await stack.backend.seed(DemoSeed())
            try await Self.withIdlePulls(stack.http) { pull in
                var pulls: [[String]] = []
                for _ in 0..<21 {
                    statements.withLockedValue { $0 = [] }
                    try await pull()
                    pulls.append(statements.withLockedValue(\.self))
                }
                // Now and then something is written about all devices, or a statement is noted among those of the next.
                let usual = pulls.sorted { $0.count < $1.count }[pulls.count / 2]
                print("cost: the statements of an idle pull:\n  \(usual.joined(separator: "\n  "))")
                CostLimits.statements.check(Double(usual.count))
            }
        }
    }

    #if os(Linux)
    @Test(
        .enabled(if: GatewayProcess.isBuilt || TestRun.mustCount, "the program rind is not built"),
        .disabled(if: TestRun.isSanitized, "a sanitizer has an allocator of its own"))
    func `an idle pull takes as few allocations and context switches as it did`() async throws {
        try await CountedGateway.withAllocations(DemoSeed()) { gateway, _, counter in
            let watch = GatewayWatch(gateway)
            let pulls = 100
            var least = (allocations: Double.infinity, switches: Double.infinity)
            try await Self.withIdlePulls(gateway.http) { pull in
                // Whatever else goes on in the program and on the machine only adds to a round.
                for _ in 0..<5 {
                    let before = (try counter.count, try #require(watch.contextSwitches))
                    for _ in 0..<pulls { try await pull() }
                    let after = (try counter.count, try #require(watch.contextSwitches))
                    least.allocations = min(least.allocations, Double(after.0 - before.0) / Double(pulls))
                    least.switches = min(least.switches, Double(after.1 - before.1) / Double(pulls))
                }
            }
            #expect(least.allocations > 0, "nothing was counted")
            CostLimits.allocations.check(least.allocations)
            CostLimits.switches.check(least.switches)
        }
    }
    #endif
}
