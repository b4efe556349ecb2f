// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel
import Testing

/// What a 409 has named is owed to the pulls that follow.
@Suite struct PullDebtTests {
    typealias Book = PullPlaybook

    private static let now = PullLedgerTests.now
    private static let longAgo = PullLedgerTests.swept(now - 2 * SweepSchedule.retryAfter)

    private static func context(count: Int, sweeps: [String: Sweep] = longAgo) throws -> PullContext {
        var context = PullLedgerTests.context(try Book.row(sweeps: sweeps))
        context.debts = [Debt(table: "albums", id: "x", count: count)]
        return context
    }

    @Test func `a pull that owes something settles, and is never idle`() throws {
        var pull = PullLedgerTests.book()
        pull.send(.context(try Self.context(count: 1)), expect: .stream(from: Book.vector))
        pull.send(.ended(.complete))
        #expect(pull.action == .readClock && pull.settled.count == 1)
        guard case .commit(let row, _) = pull.send(.clock(1_001)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.sweeps == Self.longAgo)
    }

    @Test func `what the stream has not brought is compared with the next pull`() throws {
        var pull = PullLedgerTests.book()
        pull.report.owing = ["AlbumsV1"]
        pull.send(.context(try Self.context(count: 1)))
        let row = try pull.finish(at: Self.now)
        #expect(row.sweeps["AlbumsV1"]?.doneAt == 0 && row.sweeps["AlbumsV1"]?.mapping == "m")
        #expect(row.sweeps["LinksV1"] == Self.longAgo["LinksV1"])
        var next = PullLedgerTests.book()
        next.send(.context(try Self.context(count: 1, sweeps: row.sweeps)))
        next.send(.ended(.complete), expect: .beginSweep(type: "AlbumsV1"))
    }

    @Test func `the third 409 for one record compares its type at once, but not twice in an hour`() throws {
        for (count, isDue) in [(2, false), (3, true), (4, false), (6, true)] {
            var pull = PullLedgerTests.book()
            pull.send(.context(try Self.context(count: count)))
            pull.send(.ended(.complete, carriedData: true))
            #expect((pull.action == .beginSweep(type: "AlbumsV1")) == isDue, "\(count)")
        }
        var again = PullLedgerTests.book()
        again.report.owing = ["AlbumsV1"]
        again.send(.context(try Self.context(count: 3, sweeps: PullLedgerTests.swept())))
        let row = try again.finish(at: Self.now)
        #expect(row.sweeps == PullLedgerTests.swept())
    }

    @Test func `a comparison that has failed is not tried with every pull`() throws {
        var sweeps = Self.longAgo
        sweeps["AlbumsV1"]?.triedAt = Self.now - 1_000
        sweeps["AlbumsV1"]?.failures = 3
        var pull = PullLedgerTests.book()
        pull.send(.context(try Self.context(count: 3, sweeps: sweeps)))
        pull.send(.ended(.complete, carriedData: true))
        #expect(pull.action == .readClock)
    }
}
