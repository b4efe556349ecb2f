// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines
import SyncModel
import Testing

/// The pulls that follow a 409 have its redeliveries pending.
@Suite struct PullRedeliveryTests {
    typealias Book = PullPlaybook

    private static let now = PullLedgerTests.now
    private static let longAgo = PullLedgerTests.compared(now - 2 * ComparisonSchedule.retryAfter)

    private static func context(count: Int, comparisons: [String: FullComparison] = longAgo) throws -> PullContext {
        var context = PullLedgerTests.context(try Book.row(comparisons: comparisons))
        context.redeliveries = [PendingRedelivery(table: "albums", id: "x", count: count)]
        return context
    }

    @Test func `a pull with pending redeliveries makes a diff, and is never idle`() throws {
        var pull = PullLedgerTests.book()
        pull.send(.context(try Self.context(count: 1)), expect: .stream(from: Book.vector))
        pull.send(.ended(.complete))
        #expect(pull.action == .readClock && pull.diffed.count == 1)
        guard case .commit(let row, _) = pull.send(.clock(1_001)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.comparisons == Self.longAgo)
    }

    @Test func `what the stream has not brought is compared with the next pull`() throws {
        var pull = PullLedgerTests.book()
        pull.report.awaitingRedelivery = ["AlbumsV1"]
        pull.send(.context(try Self.context(count: 1)))
        let row = try pull.finish(at: Self.now)
        #expect(row.comparisons["AlbumsV1"]?.doneAt == 0 && row.comparisons["AlbumsV1"]?.mapping == "m")
        #expect(row.comparisons["LinksV1"] == Self.longAgo["LinksV1"])
        var next = PullLedgerTests.book()
        next.send(.context(try Self.context(count: 1, comparisons: row.comparisons)))
        next.send(.ended(.complete), expect: .beginComparison(type: "AlbumsV1"))
    }

    @Test func `the third 409 for one record compares its type at once, but not twice in an hour`() throws {
        for (count, isDue) in [(2, false), (3, true), (4, false), (6, true)] {
            var pull = PullLedgerTests.book()
            pull.send(.context(try Self.context(count: count)))
            pull.send(.ended(.complete, carriedData: true))
            #expect((pull.action == .beginComparison(type: "AlbumsV1")) == isDue, "\(count)")
        }
        var again = PullLedgerTests.book()
        again.report.awaitingRedelivery = ["AlbumsV1"]
        again.send(.context(try Self.context(count: 3, comparisons: PullLedgerTests.compared())))
        let row = try again.finish(at: Self.now)
        #expect(row.comparisons == PullLedgerTests.compared())
    }

    @Test func `a comparison that has failed is not tried with every pull`() throws {
        var comparisons = Self.longAgo
        comparisons["AlbumsV1"]?.triedAt = Self.now - 1_000
        comparisons["AlbumsV1"]?.failures = 3
        var pull = PullLedgerTests.book()
        pull.send(.context(try Self.context(count: 3, comparisons: comparisons)))
        pull.send(.ended(.complete, carriedData: true))
        #expect(pull.action == .readClock)
    }
}
