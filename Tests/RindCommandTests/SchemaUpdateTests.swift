// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import JSONBytes
import StateStore
import SyncMachines
import SyncModel
import Testing

@testable import rind

@Suite struct SchemaUpdateTests {
    static let key = ["RIND_IDENTITY_KEY": "a key for tests, long enough to be one"]

    /// The schema of the annotated sample, or of the quickstart.
    static func schema(_ path: String = "config/rind.ini") throws -> Schema {
        try Configuration.load(Place.text(path), environment: key).schema
    }

    /// What is said of one table, in three words.
    struct Expectation: Sendable, CustomTestStringConvertible {
        var from: Int
        var to: Int
        var table: String
        var gain: TableUpdate.Gain
        var columns: [String] = []
        var restarted: [String]
        var delivery: TableUpdate.Delivery?
        var testDescription: String { "\(table), \(from) to \(to)" }

        static let all = [
            Expectation(
                from: 9, to: 12, table: "albums", gain: .columns, columns: ["is_activity_enabled"],
                restarted: ["AlbumsV2"],
                delivery: .gained),
            Expectation(from: 9, to: 12, table: "album_assets", gain: .nothing, restarted: []),
            Expectation(
                from: 9, to: 12, table: "assets", gain: .columns, columns: ["duration_ms"],
                restarted: ["AssetsV2", "PartnerAssetsV2"], delivery: .gained),
            Expectation(
                from: 8, to: 12, table: "album_assets", gain: .table, restarted: ["AlbumToAssetsV1"],
                delivery: .created),
            Expectation(
                from: 2, to: 9, table: "album_assets", gain: .table, restarted: ["AlbumToAssetsV1"],
                delivery: .created),
            Expectation(from: 2, to: 9, table: "albums", gain: .nothing, restarted: []),
            Expectation(
                from: 1, to: 9, table: "albums", gain: .unknown, restarted: ["AlbumsV1"], delivery: .updated),
            Expectation(
                from: 1, to: 9, table: "album_assets", gain: .table, restarted: ["AlbumToAssetsV1"],
                delivery: .updated),
            Expectation(
                from: 9, to: 30, table: "albums", gain: .columns, columns: ["is_activity_enabled"],
                restarted: ["AlbumsV2"],
                delivery: .gained),
        ]
    }

    @Test(arguments: Expectation.all)
    func `each table of an updated app is told what it gains and what is streamed again`(
        expected: Expectation
    ) throws {
        let update = SchemaUpdate(from: expected.from, to: expected.to, schema: try Self.schema())
        #expect(update.answer == .migrate)
        let table = try #require(update.tables.first { $0.name == expected.table })
        #expect(table.gain == expected.gain)
        #expect(table.columns == expected.columns)
        #expect(table.restarted == expected.restarted)
        #expect(table.delivery == expected.delivery)
    }

    @Test func `of the wire types it is told which are new, what they replace, and which are left`() throws {
        let update = SchemaUpdate(from: 8, to: 12, schema: try Self.schema())
        #expect(
            update.types == [
                TypeUpdate(name: "AlbumsV2", isNew: true, replaced: ["AlbumsV1"], isFromBeginning: true),
                TypeUpdate(name: "AlbumToAssetsV1", isNew: true, replaced: [], isFromBeginning: true),
                TypeUpdate(name: "AssetsV2", isNew: true, replaced: ["AssetsV1"], isFromBeginning: true),
                TypeUpdate(name: "PartnerAssetsV2", isNew: true, replaced: ["PartnerAssetsV1"], isFromBeginning: true),
            ])
        #expect(update.left == ["AlbumsV1", "AssetsV1", "PartnerAssetsV1"])
        let later = SchemaUpdate(from: 9, to: 12, schema: try Self.schema())
        let unchanged = try #require(later.types.first { $0.name == "AlbumToAssetsV1" })
        #expect(!unchanged.isNew && !unchanged.isFromBeginning)
    }

    @Test(
        arguments: [
            (12, 9, 400, "schema.went_back"), (2, 2, 400, "schema.migrations_enabled_at"),
            (1, 1, 426, "schema.too_old"), (12, 1, 426, "schema.too_old"), (15, 14, 400, "schema.went_back"),
        ])
    func `what the gateway refuses is refused here with the same code and a hint`(
        from: Int, to: Int, status: Int, code: String
    ) throws {
        var schema = try Self.schema()
        schema.migrationsEnabledAt = 3
        let update = SchemaUpdate(from: from, to: to, schema: schema)
        let refusal = try #require(update.refusal)
        #expect(update.answer == .refuse)
        #expect(refusal.status == status && refusal.code == code)
        #expect(refusal.hint.hasSuffix(".") && !refusal.message.isEmpty)
        #expect(update.tables.isEmpty && update.types.isEmpty && update.recorded == nil)
        #expect(update.lines[0].hasSuffix(": the gateway answers \(status) (\(code))."))
        #expect(update.lines.last?.hasPrefix("hint: ") == true)
        #expect(update.json["code"]?.string == code && update.json["hint"]?.string == refusal.hint)
    }

    @Test func `an app that is newer than the configuration gets the newest version, and that is remembered`() throws {
        let update = SchemaUpdate(from: 9, to: 14, schema: try Self.schema())
        #expect(update.version == 12 && update.recorded == 12)
        #expect(update.lines.contains { $0.hasPrefix("The configuration describes versions up to 12") })
        #expect(update.lines.contains("What is remembered is version 12."))
    }

    @Test func `where nothing was added nothing is streamed again`() throws {
        for (from, to) in [(9, 11), (12, 12), (12, 20), (14, 15)] {
            let update = SchemaUpdate(from: from, to: to, schema: try Self.schema())
            #expect(update.answer == .nothing)
            #expect(update.restarted.isEmpty && update.left.isEmpty)
            #expect(update.lines[0] == "From schema version \(from) to \(to): nothing was added.")
            #expect(update.lines.contains("Nothing is streamed again."))
        }
    }

    @Test func `with migrations switched off new wire types come anew, and gained columns are not fetched`() throws {
        var schema = try Self.schema()
        schema.migrationsEnabledAt = 0
        for index in schema.tables.indices where schema.tables[index].name == "assets" {
            schema.tables[index].feeds = [.init(versions: [.init(requestType: "AssetsV1")])]
        }
        let update = SchemaUpdate(from: 8, to: 12, schema: schema)
        #expect(update.answer == .nothing && update.isGaining)
        #expect(update.tables.map(\.gain) == [.columns, .table, .columns])
        #expect(update.tables.map(\.delivery) == [.differences, .updated, nil])
        #expect(update.lines[0].contains("migrations are switched off"))
        #expect(update.lines.contains("  streamed  what has changed, as ever"))
    }

    @Test func `a table without a ledger gets every row that is streamed again`() throws {
        var schema = try Self.schema()
        for index in schema.tables.indices { schema.tables[index].isLedgered = false }
        let update = SchemaUpdate(from: 8, to: 12, schema: schema)
        #expect(update.tables.allSatisfy { $0.delivery == .updated })
        #expect(
            update.lines.contains("  goes out  every row, in 'updated': the table has no ledger to compare with"))
    }

    @Test func `a feed that comes later begins anew, and the other feeds of its table go on`() throws {
        var schema = try Self.schema()
        for index in schema.tables.indices where schema.tables[index].name == "assets" {
            schema.tables[index].columns.removeAll { $0.since > 0 }
            schema.tables[index].feeds = [
                .init(versions: [.init(requestType: "AssetsV1")]),
                .init(versions: [.init(requestType: "PartnerAssetsV1", since: 12)]),
            ]
        }
        let update = SchemaUpdate(from: 9, to: 12, schema: schema)
        let assets = try #require(update.tables.last)
        #expect(assets.gain == .nothing && assets.delivery == .differences)
        #expect(assets.restarted == ["PartnerAssetsV1"] && assets.continued == ["AssetsV1"])
        #expect(update.lines.contains("assets gains nothing, and its lines come anew"))
        #expect(update.lines.contains("  streamed  everything of PartnerAssetsV1; of AssetsV1 what has changed"))
    }

    /// Versions of both configurations between which an app can be updated.
    static let updates: [(path: String, from: Int, to: Int)] =
        [(8, 12), (9, 12), (9, 11), (2, 9), (1, 12), (12, 12), (9, 40)].map { ("config/rind.ini", $0.0, $0.1) }
        + [(1, 2), (1, 3), (2, 3)].map { ("examples/quickstart/rind.ini", $0.0, $0.1) }

    @Test(arguments: updates)
    func `what is said to come anew is what a pull streams from its beginning`(
        path: String, from: Int, to: Int
    ) throws {
        let schema = try Self.schema(path)
        let update = SchemaUpdate(from: from, to: to, schema: schema)
        let cursor = try #require(Cursor(rawValue: 1_000))
        let before = schema.tables(at: from).flatMap { $0.namespaces(at: from) }
        let row = CursorRow(
            principal: StateFixture.alice, cursor: cursor, replica: StateFixture.phone, parent: nil,
            vector: CheckpointVector(Dictionary(before.map { ($0, "\($0)|1") }) { $1 }), schemaVersion: from,
            session: Session(rawValue: "f0"), generation: 0, isConfirmed: true, mappingDigest: "m")
        let query = PullQuery(
            principal: StateFixture.alice, session: row.session, presented: cursor, schemaVersion: to, schema: schema,
            effectiveVersion: update.version, mappingDigest: "m", newReplica: StateFixture.tablet)
        var machine = PullMachine(query: query, settings: PullSettings(style: .request))
        #expect(machine.begin() == .loadContext)
        let action = machine.handle(.context(PullContext(row: row, newest: cursor)))
        guard case .stream(.open(let types, let vector, _)) = action else {
            Issue.record("expected a stream, got \(action)")
            return
        }
        #expect(update.types.map(\.name) == types)
        for table in schema.tables(at: update.version) {
            let told = try #require(update.tables.first { $0.name == table.name })
            let lines = table.upsertTypes(at: update.version)
            let isAnew = lines.allSatisfy { vector[$0] == nil }
            #expect(lines.contains { vector[$0] == nil } == isAnew, "all or nothing in these configurations")
            #expect(told.restarted.isEmpty == !isAnew, "\(table.name)")
            #expect(told.isFetched == (machine.negotiation.change?.affected.contains(table.name) ?? false))
        }
        #expect(update.recorded == machine.negotiation.recorded)
    }
}
