// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncMachines
import SyncModel
import Testing

/// Where a pull begins and what it leaves behind.
@Suite struct PullMachineTests {
    typealias Book = PullPlaybook

    @Test func `a first sync forgets by deleting, never by a reset in the stream request`() throws {
        var pull = Book()
        #expect(pull.action == .loadContext)
        pull.send(.context(PullContext()), expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let received = ["AlbumV1": "AlbumV1|5", "SyncCompleteV1": "SyncCompleteV1|9"]
        pull.send(.ended(.complete, received: received, carriedData: true), expect: .listCheckpoints)
        pull.send(.listed(CheckpointVector(["LinkBackfillV1": "LinkBackfillV1|2|complete"])), expect: .readClock)
        let row = CursorRow(
            principal: Book.principal, cursor: try #require(Cursor(rawValue: 1_000)), replica: Book.newReplica,
            parent: nil,
            vector: CheckpointVector(received.merging(["LinkBackfillV1": "LinkBackfillV1|2|complete"]) { a, _ in a }),
            schemaVersion: 1, session: Book.session, generation: 0, mappingDigest: Book.digest)
        pull.send(.clock(1_000), expect: .commit(row, isNewReplica: true))
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .first, row: row, restart: nil)
        pull.send(.done, expect: .answer(plan))
    }

    @Test(arguments: [nil, 1_000] as [Int64?])
    func `a pull that unfinished pushes hold up ends before it writes or streams anything`(presented: Int64?) throws {
        var pull = Book(presented: presented)
        var context = Book.context(try presented.map { _ in try Book.row(isConfirmed: false) })
        context.isHeldUpByPushes = true
        pull.send(.context(context), expect: .finishPushes)
    }

    @Test func `a first sync that follows another device's pull makes the position unknown first`() {
        var pull = Book()
        pull.send(.context(Book.context(nil)), expect: .storePosition(.unknown))
        pull.send(.done, expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
    }

    @Test func `a backend that is known to hold nothing is not told to forget`() {
        var pull = Book()
        pull.send(
            .context(Book.context(nil, position: .at(CheckpointVector()))), expect: .storePosition(.unknown))
        pull.send(.done, expect: .stream(from: CheckpointVector()))
    }

    @Test func `an incremental pull confirms its cursor, goes on from there and makes a successor`() throws {
        var pull = Book(presented: 1_000)
        let presented = try Book.row(isConfirmed: false)
        pull.send(.context(Book.context(presented)), expect: .confirm(presented.cursor))
        pull.send(.done, expect: .stream(from: Book.vector))
        let row = try pull.finish(received: CheckpointVector(["AlbumV1": "AlbumV1|8"]))
        var vector = Book.vector
        vector["AlbumV1"] = "AlbumV1|8"
        #expect(row.vector == vector)
        #expect(row.parent == presented.cursor && row.replica == Book.replica)
        #expect(pull.action == .commit(row, isNewReplica: false))
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .incremental, row: row, restart: nil)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `a cursor that is confirmed already is not confirmed again`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())), expect: .stream(from: Book.vector))
    }

    @Test func `a pull that brought nothing gives its cursor back and writes nothing`() throws {
        var pull = Book(presented: 1_000)
        let row = try Book.row()
        pull.send(.context(Book.context(row)))
        pull.send(.ended(.complete, received: ["SyncCompleteV1": "SyncCompleteV1|20"]), expect: .readClock)
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .nothing, delivery: .incremental, row: nil, restart: nil)
        pull.send(.clock(2_000), expect: .answer(plan))
    }

    @Test(arguments: [
        (age: PullMachine.idleCursorAge, newest: true, digest: PullPlaybook.digest),
        (age: 5, newest: false, digest: PullPlaybook.digest),
        (age: 5, newest: true, digest: "another mapping"),
    ])
    func `a pull that brought nothing still makes a row when the old one will not do`(
        _ reason: (age: Int64, newest: Bool, digest: String)
    ) throws {
        var pull = Book(presented: 1_000, digest: reason.digest)
        pull.send(.context(Book.context(try Book.row(), isNewestOfReplica: reason.newest)))
        pull.send(.ended(.complete, received: ["SyncCompleteV1": "SyncCompleteV1|20"]), expect: .readClock)
        guard case .commit(let row, isNewReplica: false) = pull.send(.clock(1_000 + reason.age)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.vector["SyncCompleteV1"] == "SyncCompleteV1|20")
    }

    @Test func `an unknown cursor starts a new replica whose records are updates`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(nil, position: .unknown)), expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish()
        #expect(row.replica == Book.newReplica && row.parent == nil)
        #expect(pull.action == .commit(row, isNewReplica: true))
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .incremental, row: row, restart: .unknownCursor)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `an unknown cursor is answered with a replacement where the app forwards it`() throws {
        var pull = Book(presented: 1_000, settings: PullSettings(unknownCursor: .replacement))
        pull.send(.context(Book.context(nil, position: .unknown)))
        pull.send(.done)
        let row = try pull.finish()
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .replacement, row: row, restart: .unknownCursor)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `an unknown cursor is refused where the configuration says so`() {
        var pull = Book(presented: 1_000, settings: PullSettings(unknownCursor: .refuse))
        pull.send(.context(Book.context(nil)), expect: .fail(.unknownCursor))
    }

    @Test func `a cursor of another session gets the whole stream and keeps its replica`() throws {
        var pull = Book(presented: 1_000, session: Session(rawValue: "new"))
        pull.send(.context(Book.context(try Book.row(), position: .unknown)), expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish()
        #expect(row.session == Session(rawValue: "new") && row.replica == Book.replica)
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .incremental, row: row, restart: .otherSession)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `a cursor from before the session's reset gets the whole stream`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row(), generation: 3)), expect: .storePosition(.unknown))
        pull.send(.done, expect: .forgetAll)
        pull.send(.done, expect: .stream(from: CheckpointVector()))
        let row = try pull.finish()
        #expect(row.generation == 3)
        let plan = PullAnswerPlan(
            cursor: row.cursor, content: .streamed, delivery: .incremental, row: row, restart: .olderGeneration)
        pull.send(.done, expect: .answer(plan))
    }

    @Test func `a cursor whose successor was confirmed begins a new replica from its own vector`() throws {
        var pull = Book(presented: 1_000)
        let context = Book.context(try Book.row(), isFork: true, isNewestOfReplica: false)
        pull.send(.context(context), expect: .stream(from: Book.vector))
        let row = try pull.finish()
        #expect(row.replica == Book.newReplica && row.parent == nil)
        #expect(pull.action == .commit(row, isNewReplica: true))
    }

    @Test func `a fork gets a cursor of its own even where nothing has changed`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row(), isFork: true)))
        pull.send(.ended(.complete))
        guard case .commit(let row, isNewReplica: true) = pull.send(.clock(2_000)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.replica == Book.newReplica)
    }

    @Test func `namespaces that are not asked for leave the vector and the backend`() throws {
        var pull = Book(presented: 1_000, version: 2)
        var vector = Book.vector
        vector["AlbumV2"] = "AlbumV2|6"
        vector["AlbumDeleteV1"] = "AlbumDeleteV1|6"
        pull.send(.context(Book.context(try Book.row(vector: vector), position: .at(vector))))
        #expect(pull.action == .storePosition(.unknown))
        pull.send(.done, expect: .forget(["AlbumV1"]))
        var asked = vector
        asked["AlbumV1"] = nil
        pull.send(.done, expect: .storePosition(.at(asked)))
        pull.send(.done, expect: .stream(types: ["AlbumsV2", "LinksV1"], from: asked, afresh: true))
        #expect(try pull.finish().vector["AlbumV1"] == nil)
    }

    @Test func `a backend that keeps no checkpoints is never asked, told or made to forget`() throws {
        var pull = Book(presented: 1_000, settings: PullSettings(style: .request))
        let empty = CheckpointVector(["AlbumV1": "AlbumV1|5"])
        pull.send(
            .context(Book.context(try Book.row(vector: empty), position: .unknown)), expect: .stream(from: empty))
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|6"], carriedData: true), expect: .pause(200))
        pull.send(.done, expect: .stream(from: CheckpointVector(["AlbumV1": "AlbumV1|6"]), afresh: false))
        pull.send(.ended(.reset(token: "SyncResetV1|reset")), expect: .stream(from: CheckpointVector()))
        let row = try pull.finish()
        #expect(row.vector == CheckpointVector(["SyncCompleteV1": "SyncCompleteV1|20"]))
    }
}
