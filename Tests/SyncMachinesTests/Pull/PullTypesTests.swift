// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines
import SyncModel
import Testing

/// What becomes of a pull when the backend has given a request type up.
@Suite struct PullTypesTests {
    typealias Book = PullPlaybook

    /// Plays until something is streamed again, or the pull has ended; returns the stream's action.
    @discardableResult
    static func open(_ pull: inout Book) -> StreamAction? {
        for _ in 0..<6 {
            switch pull.action {
            case .stream(let action):
                if case .open = action { return action }
            case .fail: return nil
            default: break
            }
            pull.send(pull.action == .listCheckpoints ? .listed(CheckpointVector()) : .done)
        }
        return nil
    }

    private static func types(_ pull: inout Book) -> [String]? {
        guard case .open(let types, _, _) = open(&pull) else { return nil }
        return types
    }

    private static func start() throws -> Book {
        var pull = PullLedgerTests.book()
        pull.send(
            .context(PullLedgerTests.context(try Book.row(comparisons: PullLedgerTests.compared()))),
            expect: .stream(from: Book.vector))
        return pull
    }

    @Test func `a type that the backend names as refused is left out, and its checkpoints with it`() throws {
        var pull = try Self.start()
        pull.send(.typesRefused(named: ["AlbumsV1"]))
        #expect(Self.types(&pull) == ["LinksV1"])
        let row = try pull.finish(at: PullLedgerTests.now)
        #expect(row.vector["AlbumV1"] == nil && row.vector["AlbumDeleteV1"] == nil && row.vector["LinkV1"] != nil)
        // It comes as a whole once it is there again, and is compared as soon as may be.
        #expect(row.comparisons["AlbumsV1"]?.doneAt == 0 && row.comparisons["AlbumsV1"]?.failures == 1)
        #expect(row.comparisons["LinksV1"] == PullLedgerTests.compared()["LinksV1"])
    }

    @Test func `a backend that names what it takes is asked for that`() throws {
        var pull = try Self.start()
        pull.send(.typesRefused(named: ["LinksV1"]))
        #expect(Self.types(&pull) == ["AlbumsV1"])
        pull.send(.typesRefused(named: []))
        #expect(Self.types(&pull) == ["LinksV1"])
        let row = try pull.finish(at: PullLedgerTests.now)
        #expect(row.vector["AlbumV1"] == nil)
    }

    @Test(arguments: [[], ["AlbumsV1", "LinksV1"], ["OthersV1"]])
    func `a backend that refuses all types, or none by name, fails the pull`(_ named: [String]) throws {
        var pull = try Self.start()
        pull.send(.typesRefused(named: named), expect: .fail(.typesRefused))
    }

    @Test func `a backend that refuses whatever it is asked for fails the pull after a few tries`() throws {
        var pull = try Self.start()
        var tries = 0
        while let types = Self.types(&pull), tries < 10 {
            tries += 1
            pull.send(.typesRefused(named: types.count > 1 ? [types[0]] : []))
        }
        #expect(pull.action == .fail(.typesRefused) && tries == 3)
    }

    @Test func `an idle pull without a type still goes on from a new cursor`() throws {
        var pull = try Self.start()
        pull.send(.typesRefused(named: ["AlbumsV1"]))
        _ = Self.types(&pull)
        pull.send(.ended(.complete))
        if pull.action == .listCheckpoints { pull.send(.listed(CheckpointVector())) }
        guard case .commit = pull.send(.clock(PullLedgerTests.now)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
    }

    @Test func `a plain 400 is about types only after a refusal that has named some`() throws {
        var pull = try Self.start()
        #expect(pull.refusalReading == .byNames && !pull.refusalReading.isAboutTypes(status: 400))
        pull.send(.typesRefused(named: ["LinksV1"]))
        _ = Self.types(&pull)
        #expect(pull.refusalReading == .byStatus && pull.refusalReading.isAboutTypes(status: 400))
        #expect(!pull.refusalReading.isAboutTypes(status: 404))
    }

    @Test func `a table whose type the backend refuses is not replaced by nothing`() throws {
        var pull = Book(presented: 1_000, settings: PullSettings(unknownCursor: .replacement))
        pull.send(.context(Book.context(nil)))
        #expect(Self.types(&pull) == ["AlbumsV1", "LinksV1"])
        var whole = pull
        _ = try whole.finish()
        guard case .answer(let all) = whole.send(.done) else {
            Issue.record("expected an answer, got \(whole.action)")
            return
        }
        #expect(all.delivery == .replacement && all.replaced == .everything)
        pull.send(.typesRefused(named: ["AlbumsV1"]))
        #expect(Self.types(&pull) == ["LinksV1"])
        _ = try pull.finish()
        guard case .answer(let plan) = pull.send(.done) else {
            Issue.record("expected an answer, got \(pull.action)")
            return
        }
        #expect(plan.delivery == .replacement && plan.replaced == .tables(["links"]))
    }

    @Test(arguments: [0, 1])
    func `deletions of a type are late if the one that it has replaced was refused`(_ failures: Int) throws {
        var pull = Book(
            presented: 1_000, version: 2, settings: PullLedgerTests.settings,
            tableDigests: ["albums": "m", "links": "l"])
        var comparisons = PullLedgerTests.compared()
        comparisons["AlbumsV1"]?.failures = failures
        pull.send(.context(PullLedgerTests.context(try Book.row(comparisons: comparisons))))
        while !pull.isStreaming, pull.action != .fail(.unexpectedEvent) { pull.send(.done) }
        _ = try pull.finish(at: PullLedgerTests.now)
        #expect(pull.diffed.first?.late == (failures > 0 ? ["AlbumsV2"] : []))
    }
}
