// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import NIOConcurrencyHelpers
import Testing

@testable import SQLiteState

/// Writes that wait for each other are committed together, and each caller gets the result of its own.
@Suite struct GroupCommitTests {
    private struct Refusal: Error {}

    /// A group of writes, all of which wait before the first is carried out.
    private final class Group: Sendable {
        let commits = NIOLockedValueBox(0)
        /// The results in the order in which they were delivered.
        let results = NIOLockedValueBox<[String]>([])
        private let queue: DatabaseQueue
        private let group = GroupCommit()
        private let added = NIOLockedValueBox(0)

        init(pages: Int? = nil) throws {
            queue = try DatabaseQueue()
            try queue.write { db in
                if let pages { try db.execute(sql: "PRAGMA max_page_count = \(pages)") }
                try db.execute(sql: "CREATE TABLE fact (name TEXT PRIMARY KEY, size BLOB)")
            }
            queue.inDatabase { db in
                db.trace { [commits] event in
                    if case .statement(let statement) = event, statement.sql.hasPrefix("COMMIT") {
                        commits.withLockedValue { $0 += 1 }
                    }
                }
            }
        }

        func add(_ name: String, _ body: @escaping @Sendable (Database) throws -> Void) {
            added.withLockedValue { $0 += 1 }
            group.add(
                GroupCommit.Write { [results] db in
                    try body(db)
                    return { results.withLockedValue { $0.append(name) } }
                } fail: { [results] error in
                    results.withLockedValue { $0.append("\(name) failed") }
                })
        }

        func insert(_ name: String, bytes: Int = 1) {
            add(name) { db in try db.run("INSERT INTO fact VALUES (?, zeroblob(?))", [name, bytes]) }
        }

        /// Carries out as many calls as there were writes, and returns what is there then.
        func run() throws -> [String] {
            for _ in 0..<added.withLockedValue({ $0 }) { queue.inDatabase { group.run(in: $0) } }
            queue.inDatabase { $0.trace(nil) }
            return try queue.read { try String.fetchAll($0, sql: "SELECT name FROM fact ORDER BY name") }
        }
    }

    @Test func `writes that wait for each other become durable in one transaction, in their order`() throws {
        let group = try Group()
        for name in ["b", "a", "c"] { group.insert(name) }
        #expect(try group.run() == ["a", "b", "c"])
        #expect(group.results.withLockedValue { $0 } == ["b", "a", "c"])
        #expect(group.commits.withLockedValue { $0 } == 1)
    }

    @Test func `a write that fails halfway changes nothing, and those beside it are committed`() throws {
        let group = try Group()
        group.insert("a")
        group.add("b") { db in
            try db.run("INSERT INTO fact VALUES ('b', NULL)")
            throw Refusal()
        }
        group.insert("a")
        group.insert("c")
        #expect(try group.run() == ["a", "c"])
        #expect(group.results.withLockedValue { $0 } == ["a", "b failed", "a failed", "c"])
        #expect(group.commits.withLockedValue { $0 } == 1)
    }

    @Test func `a write sees what those before it in the group have changed`() throws {
        let group = try Group()
        group.insert("a")
        group.add("b") { db in
            guard try db.exists("SELECT 1 FROM fact WHERE name = 'a'") else { throw Refusal() }
        }
        _ = try group.run()
        #expect(group.results.withLockedValue { $0 } == ["a", "b"])
    }

    @Test func `if the whole transaction is lost, each write gets the result of its own`() throws {
        let group = try Group()
        group.insert("a")
        group.add("b") { db in
            // What SQLite does by itself when the disk is full or fails.
            try db.run("ROLLBACK TRANSACTION")
            throw Refusal()
        }
        group.insert("c")
        #expect(try group.run() == ["a", "c"])
        #expect(group.results.withLockedValue { $0 } == ["a", "b failed", "c"])
    }

    @Test func `a write for which there is no room leaves the room to the others`() throws {
        let group = try Group(pages: 40)
        group.insert("a")
        group.insert("b", bytes: 1_000_000)
        group.insert("c")
        #expect(try group.run() == ["a", "c"])
        #expect(group.results.withLockedValue { $0 } == ["a", "b failed", "c"])
    }

    @Test func `a group has a greatest size, and the rest is the next group`() throws {
        let group = try Group()
        for number in 100..<230 { group.insert("\(number)") }
        #expect(try group.run().count == 130)
        #expect(group.results.withLockedValue { $0 } == (100..<230).map(String.init))
        #expect(group.commits.withLockedValue { $0 } >= 3)
    }
}
