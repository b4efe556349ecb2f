// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct SQLiteDamageTests {
    /// Commits pulls of one replica, each with a vector of its own, until one fails; gives the newest cursor.
    private static func fill(_ store: SQLiteStateStore, from start: Int64, to end: Int64) async throws -> Int64 {
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
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let last = try await withSQLite(path, options: .with { $0.maximumPages = 80 }) { store in
                let last = try await Self.fill(store, from: 1, to: 1_000)
                #expect((10..<1_000).contains(last))
                await #expect(throws: StateError.full) {
                    try await store.setPosition(
                        .at(CheckpointVector(["a": String(repeating: "y", count: 100_000)])), principal: alice,
                        session: phone, at: now)
                }
                #expect(StateError.full.code == "state.full")
                for value in 1...last { #expect(try await store.context(value).row != nil) }
                #expect(try await store.context(last + 1).row == nil)
                #expect(try await store.context().newest?.rawValue == last)
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
        try await withTemporaryDirectory { directory in
            #expect(
                await codeOfOpening(directory + "/state.db", options: .with { $0.maximumPages = 3 }) == "state.full")
            #expect(await codeOfOpening(directory + "/state.db") == nil)
        }
    }

    @Test(arguments: 0..<24)
    func `damaged pages give errors and never wrong answers`(seed: Int) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let filled = try await withSQLite(path) { try await Self.fill($0, from: 1, to: 60) }
            #expect(filled == 60)
            let sound = try contents(path)
            var random = SeededGenerator(seed: UInt64(seed))
            var damaged = sound
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
            try damaged.write(to: URL(filePath: path))
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
            let newest = try await withSQLite(path) { try await $0.context().newest }
            #expect(newest?.rawValue == 60)
        }
    }

    @Test func `a state whose tables are missing is called damaged`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try await withSQLite(path) { _ in }
            try sqlite(path) { try $0.execute(sql: "DROP TABLE quarantine") }
            #expect(await codeOfOpening(path) == "state.corrupt")
        }
    }

    @Test func `a vector that was tampered with is called damaged`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            for (tokens, isRead) in [
                ("1:a,", true), ("9999999999999999999:a,1:b,", true), ("1:a,2:b,", true), ("1:a,1:c,", false),
            ] {
                try? FileManager.default.removeItem(atPath: path)
                try await withSQLite(path) { try await $0.begin(row(1, vector: ["a": "b"])) }
                try sqlite(path) { try $0.execute(sql: "UPDATE vector SET tokens = ?", arguments: [Data(tokens.utf8)]) }
                try await withSQLite(path) { store in
                    if isRead {
                        await #expect(throws: StateError.corrupt("a checkpoint vector cannot be read")) {
                            _ = try await store.context(1)
                        }
                    } else {
                        await #expect(throws: StateError.corrupt("a vector does not match its digest")) {
                            try await store.begin(row(2, replica: 2, vector: ["a": "b"]))
                        }
                    }
                }
            }
        }
    }
}
