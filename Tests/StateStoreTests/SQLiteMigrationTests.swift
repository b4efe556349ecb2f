// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct SQLiteMigrationTests {
    private static let known = SchemaMigration.sqlite.count

    @Test func `a state of schema version 1 is read as it was written`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try sqlite(path) { db in
                try db.execute(sql: VersionOne.schema)
                try db.execute(sql: VersionOne.rows)
            }
            #expect(try await SQLiteStateStore.inspect(path: path) == 1)
            try await withSQLite(path) { store in
                try await store.check(thoroughly: true)
                let context = try await store.context(1_700_000_000_000)
                let expected = CursorRow(
                    principal: alice, cursor: try cursor(1_700_000_000_000), replica: ReplicaID(rawValue: 42),
                    parent: try cursor(1_600_000_000_000),
                    vector: CheckpointVector(["AlbumV1": "AlbumV1|0197", "SyncCompleteV1": "x"]), schemaVersion: 12,
                    session: phone, generation: 2, isConfirmed: true, mappingDigest: "m1")
                #expect(context.row == expected)
                #expect(context.newest?.rawValue == 1_700_000_000_005)
                // What has come back is the tip, and nothing is known of what the device holds.
                #expect(!context.isFork)
                #expect(context.ledger == LedgerOutline(replica: ReplicaID(rawValue: 42)))
                #expect(!context.hasLedgers)
                #expect(context.session == SessionRow(generation: 3, acceptedAt: 1_700_000_000_001))
                let receipt = try await store.receipt(principal: alice, digest: "d1", at: 1_700_000_000_003)
                #expect(receipt == Receipt(status: 200, contentType: "application/json", body: [0x7B, 0x7D]))
                let replicas = try await store.replicas(of: nil, after: nil, limit: 9)
                #expect(replicas.map(\.lastResult) == ["pull, 3 records"])
                #expect(replicas.map(\.tip) == [try cursor(1_700_000_000_000)])
                let entry = try #require(try await store.quarantined(limit: 9).first)
                #expect(entry.line.reason == .unsafeID)
                #expect(entry.line.id == "a/b")
                #expect(entry.line.table == nil)
                #expect(entry.count == 7)
                #expect(try await store.quarantineCounts().dropped == 5)
                #expect(try await store.newestCursor()?.rawValue == 1_700_000_000_009)
            }
        }
    }

    @Test func `the devices of a state of schema version 1 go on and get their ledgers`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try sqlite(path) { db in
                try db.execute(sql: VersionOne.schema)
                try db.execute(sql: VersionOne.rows)
            }
            try await withSQLite(path) { store in
                let (old, new): (Int64, Int64) = (1_700_000_000_000, 1_700_000_000_010)
                try await store.confirm(principal: alice, cursor: cursor(old), at: now)
                try await store.proceed(row(new, replica: 42, parent: old, generation: 3), [1: 1])
                #expect(try await store.outline(new).isExact)
                #expect(try await store.view(new) == [1: 1])
                #expect(try await !store.outline(old).isExact)
                try await store.check(thoroughly: true)
            }
        }
    }

    @Test func `notes of schema version 3 tell from when on an accepted push has been seen`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let old = Array(SchemaMigration.sqlite.prefix(3))
            try await withSQLite(path, options: .with { $0.migrations = old }) { _ in }
            try sqlite(path) { db in
                try db.execute(
                    sql: """
                        INSERT INTO principal (digest, last_seen, sequence) VALUES ('\(alice.rawValue)', 1, 5);
                        INSERT INTO push_note SELECT id, 'tasks', 'held', 1, 4, x'', 0, 1 FROM principal;
                        INSERT INTO push_note SELECT id, 'tasks', 'seen', 0, 5, x'', 0, 1 FROM principal;
                        """)
            }
            try await withSQLite(path) { store in
                let refused = ["held", "seen"].map { PushNote(table: "tasks", id: $0, state: .refused) }
                try await store.note(refused, principal: alice, at: now)
                #expect(try await store.pushNotes(of: alice, after: 3, limit: 9).map(\.state) == [.held, .refused])
                #expect(try await store.pushNotes(of: alice, after: 4, limit: 9).map(\.state) == [.refused, .refused])
            }
        }
    }

    @Test func `a state of schema version 2 knows of no device what its pushes have shown`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try sqlite(path) { db in
                for sql in [VersionOne.schema, VersionOne.rows, VersionTwo.step] { try db.execute(sql: sql) }
            }
            #expect(try await SQLiteStateStore.inspect(path: path) == 2)
            try await withSQLite(path) { store in
                try await store.check(thoroughly: true)
                let context = try await store.context(1_700_000_000_000)
                #expect(context.row?.schemaVersion == 12)
                #expect(context.pushedVersion == nil)
                #expect(try await store.notePushed(version: 13, replica: nil, principal: alice))
                #expect(try await store.context(1_700_000_000_000).pushedVersion == 13)
            }
            #expect(try await SQLiteStateStore.inspect(path: path) == SchemaMigration.sqlite.last?.number)
        }
    }

    @Test(arguments: [1, 2])
    func `the schema of an older version has not been edited since`(version: Int) async throws {
        try await withTemporaryDirectory { directory in
            let steps = [VersionOne.schema, VersionTwo.step].prefix(version)
            try sqlite(directory + "/old.db") { db in for sql in steps { try db.execute(sql: sql) } }
            try await withSQLite(
                directory + "/new.db",
                options: .with { $0.migrations = Array(SchemaMigration.sqlite.prefix(version)) }
            ) { _ in }
            func schema(_ name: String) throws -> [String] {
                try sqlite("\(directory)/\(name).db") { db in
                    try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
                        .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
                }
            }
            let (old, new) = try (schema("old"), schema("new"))
            #expect(old == new)
            #expect(old.count > 20)
        }
    }

    @Test func `a later step runs once over the rows of the earlier ones`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { try await $0.begin(row(1)) }
            let number = SchemaMigration.sqlite.count + 1
            let step = SchemaMigration(
                number: number, sql: "ALTER TABLE replica ADD COLUMN note TEXT; UPDATE replica SET note = 'moved';")
            for _ in 0..<2 {
                try await withSQLite(path, options: .with { $0.migrations.append(step) }) { store in
                    let row = try await store.context(1).row
                    #expect(row != nil)
                }
            }
            let note = try sqlite(path) { try String.fetchOne($0, sql: "SELECT note FROM replica") }
            #expect(note == "moved")
            // And the version before it does not touch the file.
            let before = try contents(path)
            #expect(await codeOfOpening(path) == "state.schema_newer")
            await #expect(throws: StateError.schemaNewer(found: number, known: number - 1)) {
                _ = try await SQLiteStateStore.inspect(path: path)
            }
            #expect(try contents(path) == before)
        }
    }

    @Test(arguments: [
        "CREATE TABLE extra (a TEXT); CREATE TABLE extra (a TEXT);", "CREATE TABLE extra (a TEXT); not SQL;",
        "CREATE TABLE extra (r INTEGER REFERENCES replica); INSERT INTO extra VALUES (77);",
    ])
    func `a step that fails leaves the state as it was`(sql: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { try await $0.begin(row(1)) }
            let broken = SchemaMigration(number: SchemaMigration.sqlite.count + 1, sql: sql)
            #expect(await codeOfOpening(path, options: .with { $0.migrations.append(broken) }) == "state.failed")
            try await withSQLite(path) { store in
                #expect(try await store.context(1).row != nil)
                try await store.check(thoroughly: true)
            }
            let tables = try sqlite(path) { try $0.tableExists("extra") }
            #expect(!tables)
        }
    }

    @Test func `the numbers of the steps rise by one`() {
        #expect(SchemaMigration.sqlite.map(\.number) == Array(1...SchemaMigration.sqlite.count))
    }
}
