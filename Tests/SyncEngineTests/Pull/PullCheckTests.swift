// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
import SyncModel
import Testing

/// A push asks the stream what has changed since its cursor, under the rules of a pull.
@Suite struct PullCheckTests {
    typealias Book = PullPlaybook

    private static func book(
        _ tables: Set<String> = ["albums"], session: Session = Book.session,
        style: PullSettings.CheckpointStyle = .server
    ) -> Book {
        var settings = PullLedgerTests.settings
        settings.style = style
        return Book(
            presented: 1_000, settings: settings, session: session, tableDigests: ["albums": "m", "links": "l"],
            checking: tables)
    }

    private static func context(
        vector: CheckpointVector = Book.vector, position: Position = .at(Book.vector)
    ) throws -> PullContext {
        var context = PullLedgerTests.context(try Book.row(vector: vector, comparisons: PullLedgerTests.compared()))
        context.session.position = position
        return context
    }

    private static let plan = LedgerDiffPlan(basis: .cursor, output: .delta, isFirst: false)

    private static func complete(_ vector: CheckpointVector = Book.vector) -> PullAction {
        .endCheck(.complete(plan, since: vector))
    }

    @Test func `only the tables of the push are asked for, and nothing is diffed or committed`() throws {
        var pull = Self.book()
        pull.send(
            .context(try Self.context()), expect: .stream(types: ["AlbumsV1"], from: Book.vector, afresh: true))
        pull.send(.ended(.complete, received: ["AlbumV1": "AlbumV1|6"], carriedData: true), expect: Self.complete())
        #expect(pull.diffed.isEmpty)
    }

    @Test func `the backend is made to hold the whole vector, so that no namespace of the device is lost`() throws {
        var pull = Self.book()
        let held = CheckpointVector(["AlbumV1": "AlbumV1|9", "LinkV1": "LinkV1|5", "OtherV1": "OtherV1|1"])
        pull.send(.context(try Self.context(position: .at(held))), expect: .storePosition(.unknown))
        pull.send(.done, expect: .forget(["OtherV1"]))
        guard case .acknowledge(let tokens) = pull.send(.done) else {
            Issue.record("expected an ack call, got \(pull.action)")
            return
        }
        #expect(Set(tokens) == ["AlbumV1|5", "LinkBackfillV1|2|complete", "SyncCompleteV1|9"])
        pull.send(.done, expect: .storePosition(.at(Book.vector)))
        pull.send(.done, expect: .stream(types: ["AlbumsV1"], from: Book.vector, afresh: true))
    }

    @Test func `where the backend may write checkpoints by itself, its position stays unknown`() throws {
        var pull = Self.book()
        let vector = Book.vector.filter { $0 != "AlbumV1" }
        pull.send(.context(try Self.context(vector: vector, position: .at(vector))), expect: .storePosition(.unknown))
        pull.send(.done, expect: .stream(types: ["AlbumsV1"], from: vector, afresh: true))
        pull.send(.ended(.complete), expect: Self.complete(vector))
    }

    @Test func `a namespace of another table that is missing costs nothing`() throws {
        var pull = Self.book()
        let vector = Book.vector.filter { $0 != "LinkV1" }
        pull.send(
            .context(try Self.context(vector: vector, position: .at(vector))),
            expect: .stream(types: ["AlbumsV1"], from: vector, afresh: true))
    }

    @Test func `where tokens travel in the request nothing is set`() throws {
        var pull = Self.book(style: .request)
        pull.send(
            .context(try Self.context(position: .unknown)),
            expect: .stream(types: ["AlbumsV1"], from: Book.vector, afresh: true))
        pull.send(.ended(.complete), expect: Self.complete())
    }

    @Test func `an unknown cursor, another session and an older generation make the client pull first`() throws {
        var unknown = Self.book()
        unknown.send(.context(PullLedgerTests.context(nil)), expect: .endCheck(.outdated(.unknownCursor)))
        var other = Self.book(session: Session(rawValue: "new"))
        other.send(.context(try Self.context()), expect: .endCheck(.outdated(.otherSession)))
        var older = Self.book()
        var context = try Self.context()
        context.session.generation = 1
        older.send(.context(context), expect: .endCheck(.outdated(.olderGeneration)))
        var inexact = Self.book()
        context = try Self.context()
        context.ledger.isExact = false
        inexact.send(.context(context), expect: .endCheck(.outdated(.olderThanLedger)))
    }

    @Test func `a demanded reset is not acknowledged: the pull that follows gets it`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context()))
        pull.send(.ended(.reset(token: "SyncResetV1|1")), expect: .endCheck(.outdated(.reset)))
    }

    @Test func `checkpoints that the backend refuses make the client pull first`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context(position: .at(CheckpointVector(["AlbumV1": "AlbumV1|9"])))))
        while pull.action != .acknowledge([]) {
            if case .acknowledge = pull.action { break }
            pull.send(.done)
        }
        pull.send(.tokensRefused, expect: .endCheck(.outdated(.refusedTokens)))
    }

    @Test func `a stream that breaks is taken up from where it got, and compared from where it began`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context()))
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|6"], carriedData: true), expect: .sleep(200))
        var advanced = Book.vector
        advanced["AlbumV1"] = "AlbumV1|6"
        pull.send(.done, expect: .storePosition(.unknown))
        pull.send(.done, expect: .acknowledge(["AlbumV1|6"]))
        pull.send(.done, expect: .storePosition(.at(advanced)))
        pull.send(.done, expect: .stream(types: ["AlbumsV1"], from: advanced, afresh: false))
        pull.send(.ended(.complete), expect: Self.complete())
    }

    @Test func `types that the backend has given up stop no push`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context()))
        pull.send(.typesRefused(named: ["AlbumsV1"]), expect: Self.complete())
    }
}
