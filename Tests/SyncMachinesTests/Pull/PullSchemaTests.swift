// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import Ledger
import SyncMachines
import SyncModel
import Testing

/// What a client's schema version changes about a pull.
@Suite struct PullSchemaTests {
    typealias Book = PullPlaybook

    /// Version 2 brings a column of albums, the table tags, and another wire type of albums.
    private static let schema: Schema = {
        var schema = Book.schema
        schema.version = 2
        schema.tables[0].columns = [.make("name", .string), .make("color", .string, since: 2)]
        schema.tables[1].columns = [.make("album_id", .string)]
        var tags = Table.make("tags", upsert: "TagV1", columns: [.make("label", .string)])
        tags.feeds = [.init(versions: [.init(requestType: "TagsV1")])]
        tags.since = 2
        schema.tables.append(tags)
        return schema
    }()

    /// The same without the other wire type: only what is fetched for the column.
    private static let plainSchema: Schema = {
        var schema = PullSchemaTests.schema
        schema.tables[0].feeds = [.init(versions: [.init(requestType: "AlbumsV1")])]
        schema.tables[0].upserts = ["AlbumV1"]
        return schema
    }()

    private static let digests = ["albums": "m", "links": "l", "tags": "t"]
    private static let all = ["AlbumsV1", "LinksV1", "TagsV1"]

    private static func book(
        version: Int = 2, schema: Schema = plainSchema, requested: Migration? = nil,
        settings: PullSettings = PullLedgerTests.settings, cached: CachedAnswer? = nil
    ) -> Book {
        Book(
            presented: 1_000, version: version, settings: settings, cached: cached, tableDigests: digests,
            schema: schema, requested: requested)
    }

    private static func context(_ last: Int?, vector: CheckpointVector = Book.vector) throws -> PullContext {
        PullLedgerTests.context(
            try Book.row(vector: vector, comparisons: PullLedgerTests.compared(), schemaVersion: last))
    }

    /// Plays a pull up to its stream: what is asked for and from where on.
    private static func stream(_ pull: inout Book) -> (types: [String], from: CheckpointVector)? {
        for _ in 0..<6 {
            if case .stream(.open(let types, let from, _)) = pull.action { return (types, from) }
            pull.send(pull.action == .listCheckpoints ? .listed(CheckpointVector()) : .done)
        }
        return nil
    }

    @Test func `added tables and tables with added columns are streamed from the beginning, nothing else is`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context(1)))
        let stream = try #require(Self.stream(&pull))
        #expect(stream.types == Self.all)
        var expected = Book.vector
        expected["AlbumV1"] = nil
        #expect(stream.from == expected)
        let row = try pull.finish(at: PullLedgerTests.now)
        let plan = try #require(pull.diffed.last)
        #expect(plan.renewed == ["tags"] && plan.empty == ["tags"] && plan.gained == ["albums"])
        #expect(plan.compared == ["AlbumsV1", "TagsV1"] && plan.basis == .cursor && plan.output == .delta)
        #expect(row.schemaVersion == 2 && row.replica == Book.replica)
        #expect(row.comparisons["AlbumsV1"]?.doneAt == PullLedgerTests.now)
        #expect(row.comparisons["LinksV1"] == PullLedgerTests.compared()["LinksV1"])
    }

    @Test func `23: LS is that of the presented cursor, so a migration whose answer was lost comes again`() throws {
        for _ in 0..<2 {
            var pull = Self.book()
            pull.send(.context(try Self.context(1)))
            _ = Self.stream(&pull)
            let row = try pull.finish(at: PullLedgerTests.now)
            #expect(pull.diffed.last?.renewed == ["tags"] && row.schemaVersion == 2)
        }
        var next = Self.book()
        next.send(.context(try Self.context(2)))
        _ = Self.stream(&next)
        let row = try next.finish(at: PullLedgerTests.now)
        #expect(next.diffed.last?.renewed == [] && row.schemaVersion == 2)
    }

    @Test func `where LS is unknown what was added is fetched, and nothing of it is created`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context(nil)))
        let stream = try #require(Self.stream(&pull))
        #expect(stream.from["AlbumV1"] == nil && stream.from["LinkV1"] != nil)
        let row = try pull.finish(at: PullLedgerTests.now)
        #expect(pull.diffed.last?.renewed == ["tags"] && pull.diffed.last?.empty == [])
        #expect(row.schemaVersion == 2)
    }

    @Test func `a pull that fetches what was added is never idle`() throws {
        var pull = Self.book()
        pull.send(.context(try Self.context(1)))
        _ = Self.stream(&pull)
        pull.send(.ended(.complete))
        if pull.action == .listCheckpoints { pull.send(.listed(CheckpointVector())) }
        guard case .commit(let row, _) = pull.send(.clock(1_001)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        #expect(row.schemaVersion == 2)
    }

    @Test func `23: without a migration the row keeps its parent's version`() throws {
        var schema = Self.plainSchema
        schema.migrationsEnabledAt = 0
        var pull = Self.book(schema: schema)
        pull.send(.context(try Self.context(1)))
        _ = Self.stream(&pull)
        let row = try pull.finish(at: PullLedgerTests.now)
        #expect(pull.diffed.last?.renewed == [] && row.schemaVersion == 1)
    }

    @Test func `23: who gets everything has the client's version`() throws {
        var schema = Self.plainSchema
        schema.migrationsEnabledAt = 0
        var pull = Self.book(schema: schema)
        var context = try Self.context(1)
        context.ledger.isExact = false
        pull.send(.context(context))
        _ = Self.stream(&pull)
        let row = try pull.finish(at: PullLedgerTests.now)
        #expect(row.schemaVersion == 2)
    }

    @Test func `a version that brought nothing is written down once`() throws {
        let schema = Schema(
            version: 2,
            tables: Book.schema.tables.map {
                var table = $0
                table.feeds = table.feeds.map { .init(versions: [$0.versions[0]]) }
                table.upserts = table.upserts.filter { $0 != "AlbumV2" }
                return table
            })
        for (last, isIdle) in [(1, false), (2, true)] {
            var pull = Self.book(schema: schema)
            pull.send(.context(try Self.context(last)))
            _ = Self.stream(&pull)
            pull.send(.ended(.complete), expect: .readClock)
            pull.send(.clock(1_001))
            if case .answer = pull.action { #expect(isIdle) } else { #expect(!isIdle) }
        }
    }

    @Test func `a wire type of another version begins anew without a reset and is compared as a whole`() throws {
        var pull = Self.book(schema: Self.schema)
        pull.send(.context(try Self.context(2)))
        let stream = try #require(Self.stream(&pull))
        #expect(stream.types == ["AlbumsV2", "LinksV1", "TagsV1"])
        #expect(stream.from["AlbumV1"] == nil && stream.from["AlbumV2"] == nil && stream.from["LinkV1"] != nil)
        let row = try pull.finish(at: PullLedgerTests.now)
        #expect(pull.diffed.last?.compared == ["AlbumsV2", "TagsV1"])
        #expect(pull.diffed.last?.untracked == ["TagsV1"])
        #expect(row.comparisons["AlbumsV1"] == nil && row.comparisons["AlbumsV2"]?.doneAt == PullLedgerTests.now)
    }

    @Test func `a reset during a migration brings everything, and still asks nothing of an added table's ledger`()
        throws
    {
        var pull = Self.book()
        pull.send(.context(try Self.context(1)))
        _ = Self.stream(&pull)
        pull.send(.ended(.reset(token: "SyncResetV1|r")), expect: .raiseGeneration)
        pull.send(.generationRaised(1))
        let stream = try #require(Self.stream(&pull))
        #expect(stream.from.isEmpty)
        let row = try pull.finish(at: PullLedgerTests.now)
        #expect(pull.diffed.last?.renewed == ["tags"] && pull.diffed.last?.empty == ["tags"])
        #expect(row.schemaVersion == 2)
    }

    @Test(
        arguments: [
            (3, 2, SchemaRefusal.wentBack(from: 3, to: 2)),
            (1, 2, SchemaRefusal.migrationsEnabledLater(at: 3, client: 2)),
        ])
    func `a version that cannot be is refused before anything happens`(
        _ row: (last: Int, version: Int, refusal: SchemaRefusal)
    ) throws {
        var schema = Self.plainSchema
        schema.version = 3
        if case .migrationsEnabledLater(let version, _) = row.refusal { schema.migrationsEnabledAt = version }
        var pull = Self.book(version: row.version, schema: schema)
        var context = try Self.context(row.last)
        context.row?.isConfirmed = false
        pull.send(.context(context), expect: .refuse(row.refusal))
    }

    @Test func `a stream that was kept is gone on with only for the same migration`() throws {
        let old = try Book.row(comparisons: PullLedgerTests.compared(), schemaVersion: 1)
        let change = Self.plainSchema.change(from: 1, to: 2)
        var first = Self.book()
        first.send(.context(PullLedgerTests.context(old)))
        let cached = try #require(first.cachedAnswer)
        for (cachedChange, isUsed) in [(nil, false), (change, false), (cached.change, true)] {
            var other = cached
            other.change = cachedChange
            var pull = Self.book(cached: other)
            pull.send(.context(PullLedgerTests.context(old)))
            #expect((pull.action == .takeCached) == isUsed)
        }
    }
}
