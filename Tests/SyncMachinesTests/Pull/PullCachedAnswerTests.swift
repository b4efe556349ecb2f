// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines
import SyncModel
import Testing

/// Pulls that go on from where the stream of an earlier one has ended, whose answer was lost.
@Suite struct PullCachedAnswerTests {
    typealias Book = PullPlaybook

    /// Where the stream of the earlier pull has ended.
    static let end: CheckpointVector = {
        var end = Book.vector
        end["AlbumV1"] = "AlbumV1|8"
        end["SyncCompleteV1"] = "SyncCompleteV1|20"
        return end
    }()

    /// What is left of a pull with the cursor 1000 that was answered.
    static func cached() throws -> CachedAnswer {
        var first = Book(presented: 1_000)
        first.send(.context(Book.context(try Book.row())))
        let received = ["AlbumV1": "AlbumV1|8", "SyncCompleteV1": "SyncCompleteV1|20"]
        _ = try first.finish(received: CheckpointVector(received))
        return try #require(first.cachedAnswer)
    }

    @Test func `a repeated pull streams on from the end and answers with all of it`() throws {
        let cached = try Self.cached()
        #expect(cached.start == Book.vector && cached.end == Self.end)
        var pull = Book(presented: 1_000, cached: cached)
        let presented = try Book.row()
        let context = Book.context(presented, position: .at(Self.end), isNewestOfReplica: false, newest: 3_000)
        pull.send(.context(context), expect: .takeCached)
        pull.send(.done, expect: .stream(from: Self.end, afresh: false))
        pull.send(.ended(.complete, received: ["AlbumV1": "AlbumV1|9"]), expect: .readClock)
        guard case .commit(let row, isNewReplica: false) = pull.send(.clock(5_000)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.cursor.rawValue == 5_000 && row.parent == presented.cursor && row.vector["AlbumV1"] == "AlbumV1|9")
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .incremental, row: row, restart: nil)
        pull.send(.done, expect: .answer(plan))
        // Should that be lost as well, the next one goes on from there.
        #expect(pull.cachedAnswer?.start == Book.vector && pull.cachedAnswer?.end == row.vector)
    }

    @Test func `a repeated first pull goes on too, as a replica of its own`() throws {
        var first = Book()
        first.send(.context(PullContext()))
        first.send(.done)
        _ = try first.finish()
        let cached = try #require(first.cachedAnswer)
        #expect(cached.start.isEmpty && !cached.end.isEmpty)
        var pull = Book(cached: cached)
        pull.send(.context(PullContext()), expect: .takeCached)
        // What the backend holds by now is unknown.
        pull.send(.done, expect: .listCheckpoints)
        pull.send(.listed(cached.end), expect: .stream(from: cached.end, afresh: false))
        let row = try pull.finish()
        #expect(row.replica == Book.newReplica && row.parent == nil)
    }

    static let others: [(name: String, change: @Sendable (inout CachedAnswer) -> Void)] = [
        ("session", { $0.session = Session(rawValue: "other") }), ("generation", { $0.generation = 1 }),
        ("beginning", { $0.start["AlbumV1"] = "AlbumV1|4" }), ("types", { $0.whole = ["AlbumsV1"] }),
        ("ids", { $0.ids = VisibleIDs(sequence: 1) }),
    ]

    @Test(arguments: others.map(\.name))
    func `a stream that means something else is not gone on with`(_ name: String) throws {
        var cached = try Self.cached()
        try #require(Self.others.first { $0.name == name }).change(&cached)
        var pull = Book(presented: 1_000, cached: cached)
        pull.send(.context(Book.context(try Book.row())), expect: .stream(from: Book.vector))
    }

    @Test func `a cursor from before a reset streams everything`() throws {
        var pull = Book(presented: 1_000, cached: try Self.cached())
        pull.send(.context(Book.context(try Book.row(), generation: 1)), expect: .storePosition(.unknown))
    }

    @Test func `a reset while a cached answer goes on throws away what had come`() throws {
        var pull = Book(presented: 1_000, cached: try Self.cached())
        pull.send(.context(Book.context(try Book.row(), position: .at(Self.end))))
        pull.send(.done)
        pull.send(.ended(.reset(token: "SyncResetV1|reset")), expect: .raiseGeneration)
        pull.send(.generationRaised(1), expect: .acknowledgeReset(token: "SyncResetV1|reset"))
        pull.send(.done, expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        #expect(pull.cachedAnswer?.start.isEmpty == true)
    }

    @Test func `a backend that does not take the end's tokens any more streams everything`() throws {
        var pull = Book(presented: 1_000, cached: try Self.cached())
        pull.send(.context(Book.context(try Book.row())), expect: .takeCached)
        pull.send(.done, expect: .storePosition(.unknown))
        pull.send(.done)
        pull.send(.tokensRefused, expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
    }

    @Test(arguments: [false, true])
    func `an earlier pull's lines are dropped if a type is refused before all that has come since`(
        breaks: Bool
    ) throws {
        let row = try Book.row(comparisons: PullLedgerTests.compared())
        var first = PullLedgerTests.book()
        first.send(.context(PullLedgerTests.context(row)))
        _ = try first.finish(at: PullLedgerTests.now)
        let cached = try #require(first.cachedAnswer)
        var pull = PullLedgerTests.book(cached: cached)
        pull.send(.context(PullLedgerTests.context(row)), expect: .takeCached)
        PullTypesTests.open(&pull)
        if breaks {
            pull.send(.ended(.broken))
            PullTypesTests.open(&pull)
        }
        pull.send(.typesRefused(named: ["AlbumsV1"]))
        // A record that they delete may be there again, and no line of the type tells it.
        let start = cached.start.filter { !$0.hasPrefix("Album") }
        #expect(PullTypesTests.open(&pull) == .open(types: ["LinksV1"], from: start, afresh: true))
        #expect(try pull.finish(at: PullLedgerTests.now).vector["AlbumV1"] == nil)
    }

    @Test func `an earlier pull's lines stay if a type is refused at the second look`() throws {
        var pull = Book(presented: 1_000, cached: try Self.cached())
        pull.send(.context(Book.context(try Book.row(), position: .at(Self.end))))
        pull.send(.done)
        pull.report.needsSecondLook = true
        pull.send(.ended(.complete, received: ["AlbumV1": "AlbumV1|9"], carriedData: true))
        PullTypesTests.open(&pull)
        pull.send(.typesRefused(named: ["AlbumsV1"]))
        guard case .open(types: ["LinksV1"], _, afresh: false) = PullTypesTests.open(&pull) else {
            Issue.record("expected to go on, got \(pull.action)")
            return
        }
    }

    @Test func `what was compared as a whole beside the stream is not gone on with`() throws {
        let row = try Book.row(comparisons: PullLedgerTests.compared(mapping: "older"))
        var first = PullLedgerTests.book()
        first.send(.context(PullLedgerTests.context(row)))
        first.send(.ended(.complete, carriedData: true))
        guard case .beginComparison = first.action else {
            Issue.record("expected a comparison, got \(first.action)")
            return
        }
        #expect(first.cachedAnswer != nil)
        first.send(.comparisonGranted(true))
        #expect(first.cachedAnswer == nil)
    }
}
