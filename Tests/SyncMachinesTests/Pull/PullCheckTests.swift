// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines
import SyncModel
import Testing

/// A push asks the stream what has changed since its cursor, under the rules of a pull.
@Suite struct PullCheckTests {
    typealias Book = PullPlaybook

    /// A check that is played by hand.
    private struct Play {
        var machine: CheckMachine
        var action: CheckAction

        mutating func send(
            _ event: CheckEvent, expect expected: CheckAction, at place: SourceLocation = #_sourceLocation
        ) {
            send(event)
            #expect(action == expected, sourceLocation: place)
        }

        @discardableResult
        mutating func send(_ event: CheckEvent) -> CheckAction {
            action = machine.handle(event)
            return action
        }
    }

    private static func book(
        _ tables: Set<String> = ["albums"], session: Session = Book.session,
        style: CheckpointStyle = .server, presented: Int64? = 1_000
    ) -> Play {
        var settings = PullLedgerTests.settings
        settings.style = style
        let query = PullQuery(
            principal: Book.principal, session: session, presented: presented.flatMap { Cursor(rawValue: $0) },
            schemaVersion: 1, schema: Book.schema, effectiveVersion: 1, mappingDigest: Book.digest,
            tableDigests: ["albums": "m", "links": "l"], newReplica: Book.newReplica)
        var machine = CheckMachine(query: query.checking(tables), settings: settings)
        let action = machine.begin()
        return Play(machine: machine, action: action)
    }

    private static func context(
        vector: CheckpointVector = Book.vector, position: Position = .at(Book.vector)
    ) throws -> PullContext {
        var context = PullLedgerTests.context(try Book.row(vector: vector, comparisons: PullLedgerTests.compared()))
        context.session.position = position
        return context
    }

    private static let plan = LedgerDiffPlan(basis: .cursor, output: .delta, isFirst: false)

    private static func complete(
        _ vector: CheckpointVector = Book.vector, refused: Set<String> = []
    ) -> CheckAction {
        .end(.complete(plan, since: vector, refused: refused))
    }

    @Test func `only the tables of the push are asked for, and nothing is diffed or committed`() throws {
        var pull = Self.book()
        pull.send(
            .context(try Self.context()), expect: .stream(types: ["AlbumsV1"], from: Book.vector, afresh: true))
        pull.send(.ended(.complete, received: ["AlbumV1": "AlbumV1|6"], carriedData: true), expect: Self.complete())
    }

    @Test func `the backend is made to hold the whole vector, so that no namespace of the device is lost`() throws {
        var pull = Self.book()
        let held = CheckpointVector(["AlbumV1": "AlbumV1|9", "LinkV1": "LinkV1|5", "OtherV1": "OtherV1|1"])
        pull.send(.context(try Self.context(position: .at(held))), expect: .storePosition(.unknown))
        pull.send(.done, expect: .forget(["OtherV1"]))
        guard case .stream(.acknowledge(let tokens)) = pull.send(.done) else {
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
        unknown.send(.context(PullLedgerTests.context(nil)), expect: .end(.outdated(.unknownCursor)))
        var other = Self.book(session: Session(rawValue: "new"))
        other.send(.context(try Self.context()), expect: .end(.outdated(.otherSession)))
        var older = Self.book()
        var context = try Self.context()
        context.session.generation = 1
        older.send(.context(context), expect: .end(.outdated(.olderGeneration)))
        var inexact = Self.book()
        context = try Self.context()
        context.ledger.isExact = false
        inexact.send(.context(context), expect: .end(.outdated(.olderThanLedger)))
    }

    @Test func `a demanded reset is not acknowledged: the pull that follows gets it`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context()))
        pull.send(.ended(.reset(token: "SyncResetV1|1")), expect: .end(.outdated(.reset)))
    }

    @Test func `checkpoints that the backend refuses make the client pull first`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context(position: .at(CheckpointVector(["AlbumV1": "AlbumV1|9"])))))
        while pull.action != .acknowledge([]) {
            if case .stream(.acknowledge) = pull.action { break }
            pull.send(.done)
        }
        pull.send(.tokensRefused, expect: .end(.outdated(.refusedTokens)))
    }

    @Test func `a stream that breaks is taken up from where it got, and compared from where it began`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context()))
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|6"], carriedData: true), expect: .stream(.sleep(200)))
        var advanced = Book.vector
        advanced["AlbumV1"] = "AlbumV1|6"
        pull.send(.done, expect: .storePosition(.unknown))
        pull.send(.done, expect: .acknowledge(["AlbumV1|6"]))
        pull.send(.done, expect: .storePosition(.at(advanced)))
        pull.send(.done, expect: .stream(types: ["AlbumsV1"], from: advanced, afresh: false))
        pull.send(.ended(.complete), expect: Self.complete())
    }

    @Test func `types that the backend gives up one after the other stop no push`() throws {
        var pull = Self.book(["albums", "links"])
        pull.send(.context(try Self.context()))
        pull.send(.typesRefused(named: ["AlbumsV1"]))
        for _ in 0..<5 {
            if case .stream(.open(let types, _, _)) = pull.action, types == ["LinksV1"] { break }
            pull.send(.done)
        }
        pull.send(.typesRefused(named: ["LinksV1"]), expect: Self.complete(refused: ["AlbumsV1", "LinksV1"]))
    }

    @Test func `types that the backend has given up stop no push`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context()))
        pull.send(.typesRefused(named: ["AlbumsV1"]), expect: Self.complete(refused: ["AlbumsV1"]))
    }
}

extension CheckAction {
    fileprivate static func stream(types: [String], from vector: CheckpointVector, afresh: Bool) -> CheckAction {
        .stream(.open(types: types, from: vector, afresh: afresh))
    }

    fileprivate static func storePosition(_ position: Position) -> CheckAction { .stream(.storePosition(position)) }
    fileprivate static func forget(_ namespaces: [String]) -> CheckAction { .stream(.forget(namespaces)) }
    fileprivate static func acknowledge(_ tokens: [String]) -> CheckAction { .stream(.acknowledge(tokens)) }
}

extension CheckEvent {
    fileprivate static var done: CheckEvent { .stream(.done) }
    fileprivate static var tokensRefused: CheckEvent { .stream(.tokensRefused) }
    fileprivate static func typesRefused(named: [String]) -> CheckEvent { .stream(.typesRefused(named: named)) }
    fileprivate static func ended(
        _ end: StreamReport.End, received: [String: String] = [:], carriedData: Bool = false
    ) -> CheckEvent {
        .stream(.ended(StreamReport(end: end, received: CheckpointVector(received), carriedData: carriedData)))
    }
}
