// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel
import Testing

/// Which replicas go that have never come back (finding 27).
@Suite struct NewcomerTests {
    private static let day: Int64 = 86_400_000

    /// A state, and the devices of one login with their cursors.
    private struct Login {
        let store: Accounts
        private var cursors: [Int64: Int64] = [:]
        private var next: Int64 = 0

        init(_ change: (inout StateLimits) -> Void) { store = Accounts(limits: .with(change)) }

        /// Lets a device pull: it comes back with its cursor, or begins anew if that is unknown.
        ///
        /// - Returns: True if it came back; otherwise how many others were displaced is counted.
        mutating func pull(_ device: Int64, session: String = "s", at time: Instant, bytes: Int = 0) async throws
            -> (isKnown: Bool, displaced: Int)
        {
            if let cursor = cursors[device], try await store.context(cursor).row != nil {
                try await store.confirm(cursor)
                return (true, 0)
            }
            next += 1
            cursors[device] = next
            let row = try row(next, replica: next, session: Session(rawValue: session))
            let chunk = LedgerChunk(
                table: TestLedger.table, first: TestLedger.hash(1), entries: 1, bytes: Array(repeating: 1, count: bytes)
            )
            let pull = PullCommit(
                row: row, replica: .new, now: time,
                ledger: .chunks(bytes == 0 ? [] : [chunk], counts: [:]))
            return (false, try await store.commit(pull).displaced.count)
        }

        /// The devices whose cursors are known.
        func known() async throws -> [Int64] {
            var known: [Int64] = []
            for (device, cursor) in cursors.sorted(by: { $0.key < $1.key })
            where try await store.context(cursor).row != nil {
                known.append(device)
            }
            return known
        }
    }

    /// Devices that sync in any order, a moment or a day apart.
    @Test(arguments: [("s", 1), ("s", 400_000), ("own", 1), ("own", 400_000)])
    func `all devices of a login get on that start at the same time`(session: String, apart: Int64) async throws {
        var login = Login { ($0.unconfirmedReplicas, $0.startingReplicas) = (4, 20) }
        var (time, rounds, known) = (now, 0, 0)
        var random = SeededGenerator(seed: 7)
        while known < 60, rounds < 20 {
            (rounds, known) = (rounds + 1, 0)
            for device in (1...60 as ClosedRange<Int64>).shuffled(using: &random) {
                time = time + apart
                let own = session == "own" ? "s\(device)" : session
                if try await login.pull(device, session: own, at: time).isKnown { known += 1 }
            }
        }
        #expect(known == 60 && rounds <= 8)
        #expect(try await login.store.read(alice) { try $0.head() }?.newcomers.count == 0)
    }

    @Test func `an app that starts over all the while displaces its own replicas and no other device's`() async throws {
        var login = Login { ($0.unconfirmedReplicas, $0.startingReplicas) = (4, 20) }
        _ = try await login.pull(1, session: "healthy", at: now)
        var displaced = 0
        for number: Int64 in 2...100 {
            displaced += try await login.pull(number, session: "loop", at: now + number * 60_000).displaced
            if number == 50 { _ = try await login.pull(200, session: "new", at: now + number * 60_000) }
        }
        #expect(displaced == 80)
        let known = try await login.known()
        #expect(known.count == 20 && known.first == 1 && known.last == 200)
        for device: Int64 in [1, 200] { #expect(try await login.pull(device, at: now).isKnown) }
    }

    @Test func `two devices that come in turns do not displace only each other`() async throws {
        var login = Login { ($0.unconfirmedReplicas, $0.startingReplicas) = (4, 20) }
        for number: Int64 in 1...19 { _ = try await login.pull(number, at: now) }
        var rounds = 0
        while rounds < 40 {
            rounds += 1
            let first = try await login.pull(100, at: now).isKnown
            if try await login.pull(101, at: now).isKnown, first { break }
        }
        #expect(rounds < 10)
    }

    @Test func `the ledgers of replicas that never came back have a bound together`() async throws {
        var login = Login { ($0.startingBytes, $0.inlineBytes) = (100_000, 0) }
        for number: Int64 in 1...40 { _ = try await login.pull(number, at: now, bytes: 1_000) }
        #expect(try await login.known().count == 40)
        for number: Int64 in 41...80 { _ = try await login.pull(number, at: now, bytes: 50_000) }
        let replicas = try await login.store.replicas(of: alice)
        #expect(replicas.reduce(0) { $0 + $1.ledgerBytes } <= 150_000)
    }

    @Test(arguments: [3, -3])
    func `what is two days old goes, and what is from the future`(days: Int64) async throws {
        var login = Login { $0.unconfirmedReplicas = 4 }
        for number: Int64 in 1...10 { _ = try await login.pull(number, at: now + 10 * Self.day) }
        for number: Int64 in 11...17 {
            let displaced = try await login.pull(number, at: now + (10 + days) * Self.day).displaced
            #expect(displaced == 0)
        }
        #expect(try await login.known() == [11, 12, 13, 14, 15, 16, 17])
    }
}
