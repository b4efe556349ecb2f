// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

/// Numbers that a file cannot have from Rind are errors, and never reach arithmetic that could overflow.
@Suite struct SQLiteNumberTests {
    /// A column with a number that is out of its range, and who reads it.
    struct Damage: Sendable, CustomTestStringConvertible {
        let sql: String
        let read: @Sendable (SQLiteStateStore) async throws -> Void
        var testDescription: String { sql }

        static func context(_ sql: String) -> Self { Damage(sql: sql) { _ = try await $0.context(200) } }

        static let all: [Damage] = [
            .context("UPDATE principal SET sequence = \(Int64.max)"),
            Damage(sql: "UPDATE principal SET sequence = \(Int64.max)") {
                try await $0.note([PushNote(table: "a", id: "1", state: .seen)], principal: alice, at: now)
            },
            .context("UPDATE cursor SET noted = -1"),
            .context("UPDATE cursor SET generation = \(Int64.max)"),
            .context("UPDATE session SET generation = \(Int64.max)"),
            Damage(sql: "UPDATE session SET generation = -\(Int64.max)") {
                _ = try await $0.raiseGeneration(principal: alice, session: phone, at: now)
            },
            .context("UPDATE replica SET ledger_version = \(Int64.max)"),
            .context("UPDATE replica SET resync_at = -1"),
            .context("UPDATE layer SET chunks = \(Int64.max)"),
            .context("UPDATE sweep_states SET states = CAST('1:A,21:\(Int64.max) 0 0,1:m,' AS BLOB)"),
            .context("UPDATE sweep_states SET states = CAST('1:A,6:0 -1 0,1:m,' AS BLOB)"),
            Damage(sql: "UPDATE layer_count SET held = \(Int64.max)") {
                _ = try await $0.replicas(of: nil, after: nil, limit: 1)
            },
            Damage(sql: "UPDATE replica SET first_seen = \(Int64.min)") {
                _ = try await $0.replicas(of: nil, after: nil, limit: 1)
            },
            Damage(sql: "UPDATE chunk SET entries = \(Int64.min)") { store in
                let base = try #require(try await store.outline(200).base)
                _ = try await store.ledgerChunks(layer: base, table: TestLedger.table, after: nil, limit: 1)
            },
            Damage(sql: "UPDATE push_note SET record = ''") {
                _ = try await $0.pushNotes(of: alice, after: 0, limit: 100)
            },
            Damage(sql: "UPDATE push_note SET record = printf('%256d', 0)") {
                _ = try await $0.pushNotes(of: alice, after: 0, limit: 100)
            },
            Damage(sql: "UPDATE push_note SET shape = -1") {
                _ = try await $0.pushNotes(of: alice, after: 0, limit: 100)
            },
            Damage(sql: "UPDATE push_note SET state = 4") {
                _ = try await $0.pushNotes(of: alice, after: 0, limit: 100)
            },
        ]
    }

    @Test(arguments: Damage.all)
    func `a number that cannot be is called damage`(_ damage: Damage) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { store in
                var first = try row(100)
                first.comparisons = ["A": FullComparison(doneAt: now, mapping: "m")]
                try await store.begin(first, [1: 1])
                var second = try row(200, parent: 100)
                second.comparisons = first.comparisons
                try await store.proceed(second, [2: 2])
                try await store.note([PushNote(table: "a", id: "1", state: .held)], principal: alice, at: now)
                try await damage.read(store)
            }
            try sqlite(path) { try $0.execute(sql: damage.sql) }
            try await withSQLite(path) { store in
                let error = await #expect(throws: StateError.self) { try await damage.read(store) }
                #expect(error?.code == "state.corrupt")
            }
        }
    }
}
