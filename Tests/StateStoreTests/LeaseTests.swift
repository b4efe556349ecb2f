// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import MemoryState
import NIOConcurrencyHelpers
import Postgres
import PostgresTesting
import StateStore
import SyncModel
import Testing

@testable import Accounts
@testable import PostgresState

/// Who may sync for a principal where several gateways share a state (finding 7).
@Suite struct LeaseTests {
    private static let day: Int64 = 86_400_000
    private static let known = Position.at(CheckpointVector(["AlbumV1": "t"]))

    /// A gateway that asks for Alice's lease.
    private func take(
        _ holder: String, in store: Accounts, lifetime: Int64 = day, presented: Int64? = nil
    ) async throws -> (context: StoredPullContext, lease: LeaseAnswer) {
        try await store.take(
            LeaseRequest(holder: holder, lifetime: lifetime, callTimeout: 600_000, now: .ofTests), of: alice,
            session: phone, presented: try presented.map(cursor))
    }

    private func taken(
        _ holder: String, in store: Accounts, lifetime: Int64 = day
    ) async throws -> (lease: Lease, from: String?, distrust: Int64) {
        let answer = try await take(holder, in: store, lifetime: lifetime).lease
        guard case .taken(let lease, let from, let distrust) = answer else { throw StateError.leaseLost }
        return (lease, from?.name, distrust)
    }

    /// Asks in vain, and returns who has the lease.
    private func refusedBy(_ holder: String, in store: Accounts) async throws -> LeaseHolder? {
        guard case .held(let other) = try await take(holder, in: store).lease else { return nil }
        return other
    }

    /// Lets a lease of this gateway run out.
    private func expired(_ holder: String, in store: Accounts) async throws -> Lease {
        let lease = try await taken(holder, in: store, lifetime: 50).lease
        try await Task.sleep(for: .milliseconds(120))
        return lease
    }

    /// Runs the body as a gateway does that has, or had, a lease.
    private func write(under lease: Lease, givingBack: Bool = false, _ body: () async throws -> Void) async throws {
        var lease = lease
        lease.isGivenBack = givingBack
        try await Lease.$current.withValue(lease) { try await body() }
    }

    @Test(.sharedStores) func `one gateway at a time has the lease of a principal`() async throws {
        #expect(store.needsLeases)
        let first = try await taken("a", in: store)
        #expect(first.lease.holder == "a" && first.from == nil && first.distrust == 0)
        let holder = try await refusedBy("b", in: store)
        #expect(holder?.name == "a" && holder?.since ?? 0 > 0)
        // Another principal's is another lease.
        let other = try await store.take(
            LeaseRequest(holder: "b", lifetime: 1_000, callTimeout: 0, now: .ofTests), of: bob, session: phone,
            presented: nil)
        #expect(other.lease.lease != nil)

        try await store.giveBack(first.lease)
        let second = try await taken("b", in: store)
        #expect(second.lease.fence > first.lease.fence && second.from == nil && second.distrust == 0)
        // One that was given back already is nobody's business.
        try await store.giveBack(first.lease)
        #expect(try await refusedBy("a", in: store)?.name == "b")
    }

    @Test func `a lease whose take could read no further is given back`() async throws {
        let (bytes, isFailing) = (MemoryBytes(), NIOLockedValueBox(false))
        let gated = bytes.shared { moment in
            if moment == .beforeReading, isFailing.withLockedValue(\.self) { throw StateError.slow }
        }
        let (own, other) = (Accounts(gated, leases: gated), Accounts(bytes, leases: bytes))
        try await other.begin(row(1))
        isFailing.withLockedValue { $0 = true }
        // The head is read with the take, and the push's notes are behind it.
        await #expect(throws: StateError.slow) { _ = try await take("a", in: own, presented: 1) }
        let second = try await taken("b", in: other)
        #expect(second.from == nil && second.distrust == 0)
    }

    @Test(.sharedStores) func `of many gateways that ask at once one gets the lease`() async throws {
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 { group.addTask { try await take("g\(number)", in: store).lease.lease != nil } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(taken == 1)
    }

    @Test(.sharedStores)
    func `a lease that was not given back passes on when it has run out, and positions are forgotten`() async throws {
        for principal in [alice, bob] { try await store.setPosition(Self.known, for: principal) }
        let old = try await expired("a", in: store)
        let (context, answer) = try await take("b", in: store, lifetime: 30_000)
        let lease = try #require(answer.lease)
        #expect(lease.fence > old.fence)
        guard case .taken(_, let from, let distrust) = answer else { return }
        #expect(from?.name == "a" && (300_000...630_000).contains(distrust))
        #expect(context.session.position == .unknown)
        #expect(try await store.position(for: bob) == Self.known)
        // The calls of the first gateway may arrive whoever has the lease now.
        try await store.giveBack(lease)
        let next = try await taken("c", in: store)
        #expect(next.from == nil && (300_000...630_000).contains(next.distrust))
    }

    @Test(.sharedStores) func `positions are forgotten with a take, and not after it`() async throws {
        let (leases, move) = (try #require(store.leases), SessionRules.moveKey(alice.owner))
        func take(_ holder: String, lifetime: Int64 = Self.day) async throws -> [[ByteRow]] {
            let request = LeaseRequest(holder: holder, lifetime: lifetime, callTimeout: 0, now: .ofTests)
            return try await leases.take(request, of: alice, deleting: move, loading: [.row(move)]).rows
        }
        try await store.setPosition(Self.known)
        // Neither from a holder that has given it back, nor from the same one, nor if another one has it.
        for holder in ["a", "a", "b"] { #expect(try await take(holder).first?.count == 1) }
        _ = try await take("a", lifetime: 50)
        try await Task.sleep(for: .milliseconds(120))
        #expect(try await take("b") == [[]])
    }

    @Test(.sharedStores) func `a gateway takes its own lease again at once, and trusts itself`() async throws {
        let first = try await taken("a", in: store)
        try await store.setPosition(Self.known)
        let second = try await take("a", in: store)
        let lease = try #require(second.lease.lease)
        #expect(lease.fence > first.lease.fence && second.lease == .taken(lease, from: nil, distrust: 0))
        #expect(second.context.session.position == Self.known)
    }

    @Test(.sharedStores)
    func `what a gateway writes after its lease has passed on fails and changes nothing`() async throws {
        try await store.begin(row(1_000))
        let journal = try await store.beginJournal()
        let old = try await expired("a", in: store)
        // Nobody has asked for it yet.
        try await write(under: old) { try await store.confirm(1_000) }
        let new = try await taken("b", in: store).lease
        let before = try await store.context(1_000)
        var step = JournalStep()
        step.applied = [0]
        let rules: [@Sendable (inout Account) throws -> Void] = [
            { [step] in try JournalRules.advance(step, of: journal, at: now, in: &$0) },
            { try JournalRules.end(JournalEnd(step: JournalStep()), of: journal, at: now, in: &$0) },
            { try JournalRules.close(journal, with: JournalClosure(), at: now, in: &$0) },
        ]
        let writes: [() async throws -> Void] =
            [
                { try await store.goOn(row(1_001, parent: 1_000)) },
                { try await store.begin(row(1_001, replica: 2)) },
                { try await store.setPosition(.at(CheckpointVector())) },
                { try await store.raiseGeneration() },
                { try await store.write([PushNote(table: "t", id: "x", state: .seen)]) },
                { try await store.save(.taken) },
                { try await store.renew(old, for: 1_000, at: now) },
            ] + rules.map { rule in { try await store.change(alice, rule) } }
        for (index, body) in writes.enumerated() {
            await #expect(throws: StateError.leaseLost, "write \(index)") { try await write(under: old, body) }
        }
        #expect(try await store.context(1_000) == before)
        // The operator's commands hold no lease, and the new holder's number is good.
        try await store.setPosition(.at(CheckpointVector()))
        try await write(under: new) { try await store.goOn(row(1_001, parent: 1_000)) }
        #expect(try await store.context(1_001).row != nil)
    }

    @Test(.sharedStores) func `a write can give the lease back, and one that fails does not`() async throws {
        try await store.begin(row(1_000))
        let lease = try await taken("a", in: store).lease
        await #expect(throws: StateError.cursorTaken(newest: try cursor(1_000))) {
            try await write(under: lease, givingBack: true) { try await store.begin(row(1_000, replica: 2)) }
        }
        #expect(try await refusedBy("b", in: store)?.name == "a")
        try await write(under: lease, givingBack: true) { try await store.dropReceipts() }
        // As long as nobody else has it, what its last holder still has to say is in order.
        try await write(under: lease) { try await store.dropReceipts() }
        await #expect(throws: StateError.leaseLost) { try await store.renew(lease, for: 1_000, at: now) }
        let next = try await taken("b", in: store)
        #expect(next.from == nil && next.distrust == 0)
        await #expect(throws: StateError.leaseLost) {
            try await write(under: lease, givingBack: true) { try await store.dropReceipts() }
        }
        #expect(try await refusedBy("c", in: store)?.name == "b")
    }

    @Test(.sharedStores) func `a lease that is renewed does not run out`() async throws {
        let lease = try await taken("a", in: store, lifetime: 2_000).lease
        try await store.renew(lease, for: Self.day, at: .ofTests)
        try await Task.sleep(for: .milliseconds(2_100))
        #expect(try await refusedBy("b", in: store)?.name == "a")
    }

    @Test(.sharedStores) func `who gets a lease sees everything that its last holder has written`() async throws {
        try await store.begin(row(1_000))
        for value: Int64 in 1_001...1_010 {
            let lease = try await taken("a", in: store).lease
            async let next = {
                while true {
                    let (context, answer) = try await take("b", in: store, presented: value)
                    if let lease = answer.lease { return (context.newest, lease) }
                }
            }()
            try await write(under: lease, givingBack: true) { try await store.begin(row(value, replica: value)) }
            let (newest, other) = try await next
            #expect(newest == (try cursor(value)))
            try await store.giveBack(other)
        }
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `a lease is taken behind a write of its last holder that is under way`() async throws {
        let options = try await postgresOptions()
        try await withPostgres(options) { store in
            try await store.begin(row(1_000))
            let old = try await expired("a", in: store)
            #expect(try await store.context(1_000).row != nil)
            async let writing = sql(
                options, .expecting(old), PostgresStatement("DELETE FROM principal"),
                PostgresStatement("SELECT pg_sleep(2)"))
            // The write has begun once the lease's row cannot be locked.
            var isFree = true
            while isFree {
                do {
                    _ = try await sql(options, PostgresStatement("SELECT 1 FROM lease FOR UPDATE NOWAIT"))
                } catch PostgresError.timeout(.lock) { isFree = false }
            }
            let (context, answer) = try await take("b", in: store, presented: 1_000)
            #expect(answer.lease != nil && context.row == nil)
            _ = try await writing
        }
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
    func `no row of a lease stays of those of whom nothing else is known`() async throws {
        let options = try await postgresOptions()
        try await withPostgres(options) { store in
            func leases() async throws -> Int64? {
                try await sql(options, "SELECT count(*) FROM lease").first?.rows.first?.integer(0)
            }
            // A pull that fails before it has written anything.
            let stranger = try await taken("a", in: store).lease
            #expect(try await leases() == 1)
            try await store.giveBack(stranger)
            #expect(try await leases() == 0)
            let lease = try await taken("a", in: store).lease
            try await write(under: lease, givingBack: true) {
                try await store.write([PushNote(table: "t", id: "x", state: .seen)])
            }
            #expect(try await leases() == 1)
            for time in [now + Self.day, now + 2 * Self.day] { try await store.collect(at: time, seenBefore: time) }
            #expect(try await leases() == 0)
        }
    }

    @Test func `a file has one gateway, whose leases cost nothing`() async throws {
        try await withSQLite { store in
            #expect(!store.needsLeases)
            let first = try await taken("a", in: store)
            _ = try await taken("b", in: store)
            try await store.renew(first.lease, for: 1, at: now)
            try await store.giveBack(first.lease)
        }
    }
}

extension LeaseAnswer {
    /// The lease, if it was taken.
    fileprivate var lease: Lease? {
        if case .taken(let lease, _, _) = self { lease } else { nil }
    }
}

extension Instant {
    /// The real time, in which leases run out in every store.
    fileprivate static var ofTests: Instant {
        let (seconds, attoseconds) = (ContinuousClock.now - .lease).components
        return now + seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

extension ContinuousClock.Instant {
    fileprivate static let lease = ContinuousClock.now
}
