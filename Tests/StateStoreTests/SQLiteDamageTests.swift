// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct SQLiteDamageTests {
    /// Commits pulls of one replica, each with a vector of its own, until one fails; gives the newest cursor.
    private static func fill(_ store: Accounts, from start: Int64, to end: Int64) async throws -> Int64 {
        for value in start...end {
            let row = try row(
                value, parent: value > 1 ? value - 1 : nil,
                vector: ["AlbumV1": "\(value)-" + String(repeating: "x", count: 1_500)])
            do {
                try await value == 1 ? store.begin(row) : store.proceed(row)
            } catch StateError.full {
                return value - 1
            }
        }
        return end
    }

    @Test func `a full disk gives an error, loses nothing, and the state goes on when there is room`() async throws {
        try await withStateFile { path in
            let last = try await withSQLite(path, options: .with { $0.maximumPages = 80 }) { store in
                let last = try await Self.fill(store, from: 1, to: 1_000)
                #expect((10..<1_000).contains(last))
                await #expect(throws: StateError.full) {
                    try await store.setPosition(.at(CheckpointVector(["a": String(repeating: "y", count: 900_000)])))
                }
                for value in 1...last { #expect(try await store.context(value).row != nil) }
                #expect(try await store.context(last + 1).row == nil)
                #expect(try await store.context(last).newest?.rawValue == last)
                return last
            }
            try await withSQLite(path) { store in
                try await store.check(thoroughly: true)
                #expect(try await store.context(last).newestOfReplica?.rawValue == last)
                #expect(try await Self.fill(store, from: last + 1, to: last + 50) == last + 50)
            }
        }
    }

    @Test func `a disk that is full from the start gives an error`() async throws {
        try await withStateFile { path in
            #expect(await codeOfOpening(path, options: .with { $0.maximumPages = 3 }) == "state.full")
            #expect(await codeOfOpening(path) == nil)
        }
    }

    @Test func `a file that lacks only its first page is no new state`() async throws {
        try await withStateFile { path in
            let file = URL(filePath: path)
            try await withSQLite(path) { _ = try await Self.fill($0, from: 1, to: 100) }
            let empty = try DatabaseQueue(path: path + ".empty")
            try await empty.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
            try empty.close()
            let first = try Data(contentsOf: URL(filePath: path + ".empty"))
            try (first + Data(contentsOf: file).dropFirst(first.count)).write(to: file)
            #expect(await codeOfOpening(path) == "state.corrupt")
        }
    }

    private static func damage(_ sound: Data, seed: Int) -> Data {
        var (random, damaged) = (SeededGenerator(seed: UInt64(seed)), sound)
        switch seed % 3 {
        case 0:
            for _ in 0..<40 {
                damaged[Int.random(in: 100..<damaged.count, using: &random)] = .random(in: 0...255, using: &random)
            }
        case 1:
            let page = Int.random(in: 1..<damaged.count / 4_096, using: &random) * 4_096
            damaged.replaceSubrange(
                page..<page + 4_096, with: (0..<4_096).map { _ in UInt8.random(in: 0...255, using: &random) })
        default: damaged.removeSubrange(Int.random(in: 1..<damaged.count, using: &random)...)
        }
        return damaged
    }

    @Test(arguments: 0..<24)
    func `damaged pages give errors and never wrong answers`(seed: Int) async throws {
        try await withStateFile { path in
            let filled = try await withSQLite(path) { try await Self.fill($0, from: 1, to: 60) }
            #expect(filled == 60)
            let sound = try contents(path)
            try Self.damage(sound, seed: seed).write(to: URL(filePath: path))
            do {
                try await withSQLite(path) { store in
                    for value: Int64 in 1...60 {
                        let row = try await store.context(value).row
                        // Flipped text can be any text; a row must still be of the right cursor.
                        #expect(row == nil || row?.cursor.rawValue == value)
                    }
                    try await store.check(thoroughly: true)
                }
            } catch let error as StateError {
                #expect(["state.corrupt", "state.not_rind", "state.failed", "state.schema_newer"].contains(error.code))
            }
            // The operator puts the backup back.
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try sound.write(to: URL(filePath: path))
            let newest = try await withSQLite(path) { try await $0.newestCursor() }
            #expect(newest?.rawValue == 60)
        }
    }

    @Test func `a state whose tables are missing is called damaged`() async throws {
        try await withStateFile { path in
            try await withSQLite(path) { _ in }
            try sqlite(path) { try $0.execute(sql: "DROP TABLE entry") }
            #expect(await codeOfOpening(path) == "state.corrupt")
        }
    }

    @Test(arguments: ["principal", "replica"])
    func `a head whose bytes were changed stops its principal or its device, and no other`(
        table: String
    ) async throws {
        try await withStateFile { path in
            try await withSQLite(path) { store in
                try await store.begin(row(1, vector: ["a": "b"]))
                try await store.begin(row(1, of: bob, replica: 2, vector: ["a": "b"]))
            }
            try sqlite(path) { db in
                let place = "owner = \(alice.owner)"
                var data = try #require(try Data.fetchOne(db, sql: "SELECT data FROM \(table) WHERE \(place)"))
                data[data.count - 3] ^= 1
                try db.execute(sql: "UPDATE \(table) SET data = ? WHERE \(place)", arguments: [data])
            }
            try await withSQLite(path) { store in
                if table == "replica" {
                    let row = try await store.context(1).row
                    #expect(row == nil)
                } else {
                    let error = await #expect(throws: StateError.self) { _ = try await store.context(1) }
                    #expect(error?.code == Coder.damage.code && error?.description.contains("a11ce") == true)
                }
                let other = try await store.context(1, of: bob).row
                #expect(other != nil)
                // What goes through all principals goes on behind this one.
                try await store.collect()
                #expect(try await store.inspection.principals(beginningWith: bob.rawValue, limit: 9) == [bob])
            }
        }
    }

    @Test(arguments: [
        "UPDATE entry SET data = zeroblob(length(data)) WHERE kind = 23", "DELETE FROM entry WHERE kind = 23",
    ])
    func `a page of a head that is damaged or gone makes its device unknown`(damage: String) async throws {
        try await withStateFile { path in
            let options = SQLiteStateStore.Options.with { $0.limits.headBytes = 1 }
            try await withSQLite(path, options: options) { store in
                try await store.begin(row(1, of: bob, replica: 2))
                try await store.begin(row(1), [1: 1])
                for value: Int64 in 2...9 { try await store.proceed(row(value, parent: value - 1), [1: UInt8(value)]) }
                #expect(try await store.context(9).row != nil)
            }
            try sqlite(path) { try $0.execute(sql: damage) }
            try await withSQLite(path, options: options) { store in
                #expect(try await store.context(9).row == nil)
                #expect(try await store.context(1, of: bob).row != nil)
                let listed = try await store.inspection.replicas(of: nil, after: nil, limit: 9)
                #expect(listed.map(\.isDamaged) == [true, false])
                try await store.collect()
                try await store.change(listed[0].principal) { account in
                    let isForgotten = try ReplicaRules.forget(listed[0].id, at: now, in: &account)
                    #expect(isForgotten)
                }
                #expect(try await store.inspection.replicas(of: nil, after: nil, limit: 9).count == 1)
            }
        }
    }
}
