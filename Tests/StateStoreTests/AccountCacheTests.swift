// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import MemoryState
import NIOConcurrencyHelpers
import SyncModel
import Testing

@testable import StateStore

/// What is kept of principals in memory, beside changes that overlap.
@Suite struct AccountCacheTests {
    /// Holds up the next write until it is opened.
    private final class Barrier: Sendable {
        private struct State {
            var isArmed = false
            var held: CheckedContinuation<Void, Never>?
            var waiting: CheckedContinuation<Void, Never>?
        }
        private let state = NIOLockedValueBox(State())

        func arm() { state.withLockedValue { $0.isArmed = true } }

        func pass(_ moment: MemoryBytes.Moment) async {
            guard moment == .beforeWriting, state.withLockedValue({ $0.isArmed }) else { return }
            await withCheckedContinuation { held in
                let waiting = state.withLockedValue { state in
                    (state.isArmed, state.held) = (false, held)
                    return state.waiting
                }
                waiting?.resume()
            }
        }

        /// Waits until a write is held up.
        func reached() async {
            await withCheckedContinuation { waiting in
                let isThere = state.withLockedValue { state in
                    if state.held == nil { state.waiting = waiting }
                    return state.held != nil
                }
                if isThere { waiting.resume() }
            }
        }

        func open() { state.withLockedValue { $0.held.take() }?.resume() }
    }

    @Test func `a pull of one device does not hide a pull of another one that was committed meanwhile`() async throws {
        let barrier = Barrier()
        let store = Accounts(MemoryBytes { await barrier.pass($0) })
        for device: Int64 in [1, 2] {
            try await store.begin(row(device, replica: device))
            try await store.confirm(device)
            #expect(try await store.context(device).row != nil)
        }
        barrier.arm()
        async let slow: Void = store.goOn(row(12, replica: 2, parent: 2))
        await barrier.reached()
        try await store.goOn(row(11, replica: 1, parent: 1))
        barrier.open()
        try await slow
        #expect(try await store.context(11).row?.replica.rawValue == 1)
        #expect(try await store.context(12).row?.replica.rawValue == 2)
        #expect(try await store.context(11).newestOfReplica?.rawValue == 11)
    }

    @Test(arguments: [true, false])
    func `a move that another session's pull overlaps leaves no position of before it known`(
        _ changesHead: Bool
    ) async throws {
        let barrier = Barrier()
        let store = Accounts(MemoryBytes { await barrier.pass($0) })
        let (watch, vector) = (Session(rawValue: "c0"), CheckpointVector(["a": "b"]))
        try await store.setPosition(.at(vector), of: watch)
        let move = try await store.setPosition(.unknown, of: tablet)
        barrier.arm()
        async let slow = store.setPosition(.at(vector), of: tablet, after: move)
        await barrier.reached()
        try await store.setPosition(.unknown)
        // Then the one that is slow is refused, and made again.
        if changesHead { try await store.begin(row(1)) }
        barrier.open()
        _ = try await slow
        for session in [watch, tablet, phone] { #expect(try await store.position(of: session) == .unknown) }
    }

    @Test func `what is kept weighs as much as its texts`() async throws {
        var weights: [Int] = []
        for length in [10, 50_000] {
            let store = Accounts()
            var row = try row(1)
            row.vector = CheckpointVector(["a": String(repeating: "t", count: length)])
            try await store.begin(row)
            weights.append(try await store.change(alice) { $0.view.weight })
        }
        #expect(weights[1] - weights[0] >= 2 * 49_990)
    }

    @Test(.eachStore) func `of the devices of one login only some are kept in memory`() async throws {
        for value: Int64 in 1...200 {
            try await store.begin(row(value, replica: value, session: Session(rawValue: "s\(value)")))
            try await store.confirm(value)
        }
        let kept = try await store.change(alice) { account in
            (account.view.replicas.count, account.view.answers.count)
        }
        #expect(kept.0 <= 65 && kept.1 <= 270)
        // The others are read again.
        for value: Int64 in [1, 100, 200] {
            #expect(try await store.context(value).row?.replica == ReplicaID(rawValue: value))
        }
    }
}
