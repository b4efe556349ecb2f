// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import Gateway
import GatewayConfig
import Logging
import NIOConcurrencyHelpers
import SQLiteState
import StateStore
import SyncModel
import Testing

@testable import rind

@Suite struct HousekeepingTests {
    private static let hour: Int64 = 3_600_000
    private static let start: Instant = 1_800_000_000_000

    /// A clock that goes by a script: how far it moves in each sleep, and how much of that really passes.
    private final class ScriptedClock: WallClock {
        private struct State {
            var now = HousekeepingTests.start
            var uptime = Duration.zero
            var steps: ArraySlice<(shown: Int64, passed: Int64)>
        }
        private let state: NIOLockedValueBox<State>

        init(_ steps: [(shown: Int64, passed: Int64)]) { state = NIOLockedValueBox(State(steps: steps[...])) }

        var now: Instant { state.withLockedValue(\.now) }
        var uptime: Duration { state.withLockedValue(\.uptime) }

        func sleep(milliseconds: Int64) async throws {
            try state.withLockedValue { state in
                guard let step = state.steps.popFirst() else { throw CancellationError() }
                state.now += step.shown
                state.uptime += .milliseconds(step.passed)
            }
        }
    }

    @Test func `a device whose pulls bring nothing is not taken for one that stays away`() {
        var ledger = Configuration.Ledger()
        ledger.maxOffline = .seconds(86_400)
        // Its last write may be a day old with each of its pulls.
        let lastWrite = Self.start - 24 * Self.hour
        #expect(ledger.retention(at: Self.start + Self.hour).seenBefore <= lastWrite)
    }

    private func left(after steps: [(shown: Int64, passed: Int64)]) async throws -> Int {
        try await Place.withDirectory { directory in
            let path = directory.appending(path: "rind-state.db").path(percentEncoded: false)
            let store = try await SQLiteStateStore.open(path: path)
            for number: Int64 in 1...20 {
                let row = CursorRow(
                    principal: Principal(rawValue: "p\(number)"), cursor: try #require(Cursor(rawValue: number)),
                    replica: ReplicaID(rawValue: number), parent: nil, vector: CheckpointVector(["A": "A|1"]),
                    schemaVersion: nil, session: Session(rawValue: "s"), generation: 0, mappingDigest: "m")
                try await store.commit(PullCommit(row: row, replica: .new, now: Self.start))
            }
            let clock = ScriptedClock(steps)
            var housekeeping = Housekeeping(
                store: store, ledger: { GatewayConfig.Configuration.Ledger() }, clock: clock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            housekeeping.uptime = { clock.uptime }
            try await housekeeping.run()
            let count = try await store.inspection.replicas(of: nil, after: nil, limit: 100).count
            await store.close()
            return count
        }
    }

    @Test func `an hour in which the clock shows ten years forgets no device`() async throws {
        let decade = 3_650 * 24 * Self.hour
        #expect(try await left(after: [(Self.hour, Self.hour), (decade, Self.hour), (Self.hour, Self.hour)]) == 20)
    }

    @Test func `years that really pass forget them one after the other`() async throws {
        let decade = 3_650 * 24 * Self.hour
        #expect(
            try await left(after: [(Self.hour, Self.hour), (decade, decade), (Self.hour, Self.hour)]) == 18)
    }
}
