// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncMachines
import SyncModel
import Testing

/// The integers that are handed out (finding 10).
@Suite struct PullCursorTests {
    typealias Book = PullPlaybook

    @Test(arguments: [(lag: 0, wait: 1), (lag: 1, wait: 2), (lag: 2_000, wait: 2_001)] as [(lag: Int64, wait: Int64)])
    func `the answer waits for a clock that is not past the newest cursor`(
        _ clock: (lag: Int64, wait: Int64)
    ) throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row(), newest: 9_000)))
        pull.send(.ended(.complete, carriedData: true), expect: .readClock)
        pull.send(.clock(9_000 - clock.lag), expect: .sleep(clock.wait))
        pull.send(.done, expect: .readClock)
        guard case .commit(let row, _) = pull.send(.clock(9_001)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.cursor.rawValue == 9_001)
    }

    @Test func `a clock that is far behind the newest cursor gets no cursor`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row(), newest: 9_000)))
        pull.send(.ended(.complete, carriedData: true))
        pull.send(.clock(6_999), expect: .fail(.clockBehind))
    }

    @Test func `a clock that stands still is not waited for without end`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row(), newest: 9_000)))
        pull.send(.ended(.complete, carriedData: true))
        var waits = 0
        while pull.send(.clock(9_000)) == .sleep(1), waits < 100 {
            pull.send(.done, expect: .readClock)
            waits += 1
        }
        #expect(pull.action == .fail(.clockBehind))
    }

    @Test(arguments: [0, -5, Instant(milliseconds: Cursor.maximum + 1)] as [Instant])
    func `a time that is no cursor is refused`(_ now: Instant) {
        var pull = Book()
        pull.send(.context(PullContext()))
        pull.send(.done)
        pull.send(.ended(.complete), expect: .listCheckpoints)
        pull.send(.listed(CheckpointVector()))
        pull.send(.clock(now), expect: .fail(.clockBehind))
    }

    @Test func `a cursor that another pull took meanwhile is tried again later`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())))
        let row = try pull.finish(at: 5_000)
        pull.send(.cursorTaken(newest: row.cursor), expect: .readClock)
        pull.send(.clock(5_000), expect: .sleep(1))
        pull.send(.done, expect: .readClock)
        var next = row
        next.cursor = try #require(Cursor(rawValue: 5_001))
        pull.send(.clock(5_001), expect: .commit(next, isNewReplica: false))
    }

    @Test func `a cursor that is always taken ends the pull`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())))
        var now: Instant = 5_000
        _ = try pull.finish(at: now)
        var tries = 0
        while pull.send(.cursorTaken(newest: try #require(Cursor(time: now)))) == .readClock, tries < 100 {
            now += 1
            tries += 1
            pull.send(.clock(now))
        }
        #expect(pull.action == .fail(.cursorContention))
    }
}
