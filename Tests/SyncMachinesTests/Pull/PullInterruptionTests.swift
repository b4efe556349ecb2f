// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncMachines
import SyncModel
import Testing

/// Streams that break and streams that say "start over".
@Suite struct PullInterruptionTests {
    typealias Book = PullPlaybook
    static let reset = StreamReport.End.reset(token: "SyncResetV1|reset")

    @Test func `a broken stream goes on from the tokens that it brought and keeps the spool`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())), expect: .stream(from: Book.vector))
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|7"], carriedData: true), expect: .pause(200))
        var vector = Book.vector
        vector["AlbumV1"] = "AlbumV1|7"
        pull.send(.done, expect: .storePosition(.unknown))
        pull.send(.done, expect: .acknowledge(["AlbumV1|7"]))
        pull.send(.done, expect: .storePosition(.at(vector)))
        pull.send(.done, expect: .stream(from: vector, afresh: false))
        let row = try pull.finish()
        #expect(row.vector["AlbumV1"] == "AlbumV1|7")
    }

    @Test func `a stream that broke before its first line is asked for again without any call`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())))
        pull.send(.ended(.broken), expect: .pause(200))
        pull.send(.done, expect: .stream(from: Book.vector, afresh: false))
    }

    @Test func `what the backend wrote before the break is taken over, after the pause`() {
        var pull = Book()
        pull.send(.context(PullContext()), expect: .forgetAll)
        pull.send(.done)
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|7"], carriedData: true), expect: .pause(200))
        pull.send(.done, expect: .listCheckpoints)
        let own = "LinkBackfillV1|4|complete"
        pull.send(.listed(CheckpointVector(["LinkBackfillV1": own])), expect: .acknowledge(["AlbumV1|7"]))
        pull.send(
            .done,
            expect: .stream(
                from: CheckpointVector(["AlbumV1": "AlbumV1|7", "LinkBackfillV1": own]), afresh: false))
    }

    @Test func `each pause is twice as long, and after the last attempt the pull fails`() throws {
        var pull = Book(presented: 1_000, settings: PullSettings(resumeAttempts: 9, resumeBackoff: 100))
        pull.send(.context(Book.context(try Book.row())))
        for pause in [100, 200, 400, 800, 1_600, 3_200, 6_400, 6_400, 6_400] as [Int64] {
            pull.send(.ended(.broken), expect: .pause(pause))
            pull.send(.done, expect: .stream(from: Book.vector, afresh: false))
        }
        pull.send(.ended(.broken), expect: .fail(.streamBroken))
    }

    @Test func `no attempts configured means that the first break ends the pull`() throws {
        var pull = Book(presented: 1_000, settings: PullSettings(resumeAttempts: 0))
        pull.send(.context(Book.context(try Book.row())))
        pull.send(.ended(.broken), expect: .fail(.streamBroken))
    }

    @Test func `the generation is durable before the reset is acknowledged, alone`() throws {
        var pull = Book(presented: 1_000)
        let presented = try Book.row()
        pull.send(.context(Book.context(presented)))
        pull.send(.ended(Self.reset), expect: .raiseGeneration)
        pull.send(.generationRaised(1), expect: .acknowledgeReset(token: "SyncResetV1|reset"))
        pull.send(.done, expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish()
        #expect(row.generation == 1 && row.replica == Book.replica && row.parent == presented.cursor)
        #expect(row.vector == CheckpointVector(["SyncCompleteV1": "SyncCompleteV1|20"]))
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .incremental, row: row, restart: .reset)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `after a reset even a stream without data is answered under a new cursor`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())))
        pull.send(.ended(Self.reset))
        pull.send(.generationRaised(1))
        pull.send(.done)
        pull.send(.done)
        pull.send(.ended(.complete), expect: .listCheckpoints)
        pull.send(.listed(CheckpointVector()), expect: .readClock)
        guard case .commit = pull.send(.clock(2_000)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
    }

    @Test func `what a broken stream had brought is thrown away when the reset comes`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())))
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|7"], carriedData: true), expect: .pause(200))
        for _ in 0..<4 { pull.send(.done) }
        pull.send(.ended(Self.reset), expect: .raiseGeneration)
        pull.send(.generationRaised(1))
        pull.send(.done, expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector(), afresh: true))
        #expect(try pull.finish().vector == CheckpointVector(["SyncCompleteV1": "SyncCompleteV1|20"]))
    }

    @Test func `a second reset in one pull ends it`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())))
        pull.send(.ended(Self.reset))
        pull.send(.generationRaised(1))
        pull.send(.done)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        pull.send(.ended(Self.reset), expect: .fail(.resetAgain))
    }

    @Test func `a reset at a first sync is served as a first sync`() throws {
        var pull = Book()
        pull.send(.context(PullContext()))
        pull.send(.done)
        pull.send(.ended(Self.reset), expect: .raiseGeneration)
        pull.send(.generationRaised(1), expect: .acknowledgeReset(token: "SyncResetV1|reset"))
        pull.send(.done, expect: .forgetAll)
        pull.send(.done)
        let row = try pull.finish()
        let plan = PullAnswerPlan(cursor: row.cursor, content: .streamed, delivery: .first, row: row, restart: nil)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `checkpoints that the backend refuses are forgotten and everything is streamed`() throws {
        var pull = Book(presented: 1_000)
        let elsewhere = CheckpointVector(["AlbumV1": "AlbumV1|3"])
        pull.send(.context(Book.context(try Book.row(), position: .at(elsewhere))), expect: .storePosition(.unknown))
        guard case .stream(.acknowledge) = pull.send(.done) else { return _ = Issue.record("expected an ack call") }
        pull.send(.tokensRefused, expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish()
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .incremental, row: row, restart: .refusedTokens)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `tokens that are refused with the request of the stream are left out, once`() throws {
        var pull = Book(presented: 1_000, settings: PullSettings(style: .request))
        pull.send(.context(Book.context(try Book.row())), expect: .stream(from: Book.vector))
        pull.send(.tokensRefused, expect: .stream(from: CheckpointVector(), afresh: true))
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|7"], carriedData: true), expect: .pause(200))
        pull.send(.done, expect: .stream(from: CheckpointVector(["AlbumV1": "AlbumV1|7"]), afresh: false))
        var again = pull
        again.send(.tokensRefused, expect: .fail(.tokensRefused))
        let row = try pull.finish()
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .incremental, row: row, restart: .refusedTokens)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `a refusal that names all types may be about tokens, and then about the types`() throws {
        var pull = Book(presented: 1_000, settings: PullSettings(style: .request))
        pull.send(.context(Book.context(try Book.row())), expect: .stream(from: Book.vector))
        pull.send(.typesRefused(named: Book.types), expect: .stream(from: CheckpointVector(), afresh: true))
        pull.send(.typesRefused(named: Book.types), expect: .fail(.typesRefused))
    }

    @Test func `a stream without tokens is not refused because of them`() {
        var pull = Book(settings: PullSettings(style: .request))
        pull.send(.context(PullContext()), expect: .stream(from: CheckpointVector()))
        pull.send(.tokensRefused, expect: .fail(.unexpectedEvent))
    }

    @Test func `checkpoints that are refused at a resume too end the pull`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row(), position: .at(CheckpointVector(["AlbumV1": "AlbumV1|3"])))))
        pull.send(.done)
        pull.send(.tokensRefused, expect: .forgetAll)
        pull.send(.done)
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|7"], carriedData: true), expect: .pause(200))
        pull.send(.done, expect: .listCheckpoints)
        pull.send(.listed(CheckpointVector()), expect: .acknowledge(["AlbumV1|7"]))
        pull.send(.tokensRefused, expect: .fail(.tokensRefused))
    }

    @Test func `at a first sync a refused checkpoint begins it anew`() {
        var pull = Book()
        pull.send(.context(PullContext()), expect: .forgetAll)
        pull.send(.done)
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|7"], carriedData: true), expect: .pause(200))
        pull.send(.done)
        pull.send(.listed(CheckpointVector()), expect: .acknowledge(["AlbumV1|7"]))
        pull.send(.tokensRefused, expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
    }

    @Test func `a reset is neither raised nor acknowledged where unknown cursors are refused`() throws {
        var pull = Book(presented: 1_000, settings: PullSettings(unknownCursor: .refuse))
        pull.send(.context(Book.context(try Book.row())))
        pull.send(.ended(Self.reset), expect: .fail(.unknownCursor))
    }
}
