// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import Gateway
import GatewayConfig
import Ledger
import LineProjection
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct LedgerInspectorTests {
    @Test func `a record is found with its cursor, its content and all that is older`() async throws {
        try await Inspected.with { state in
            try await state.first(10, ["tasks": [.held("a", 1), .held("b", 2)]])
            try await state.next(20, after: 10, ["tasks": [.held("a", 3)]])
            try await state.next(30, after: 20, ["tasks": [.tombstone("b", 31)]])
            try await state.confirm(30)
            let a = try await state.find("a")
            #expect(a.cursor?.rawValue == 30 && a.confirmed?.rawValue == 30 && a.hasLedger && a.isExact)
            #expect(try a.sights.map(\.origin) == [.cursor(cursor(20)), .base(cursor(10))])
            #expect(a.sights.map(\.entry.content) == [3, 1])
            #expect(!a.isPending)
            let b = try await state.find("b")
            #expect(b.sights.map(\.entry.state) == [.tombstone, .held])
            #expect(b.sights.first?.entry.goneAt == 31)
            #expect(try await state.find("c").sights.isEmpty)
            #expect(try await state.find("a", table: "projects").sights.isEmpty)
        }
    }

    @Test func `an answer that has not come back yet is pending, and one that was lost counts for nothing`()
        async throws
    {
        try await Inspected.with { state in
            try await state.first(10, ["tasks": [.held("a", 1)]])
            #expect(try await state.find("a").isExact)
            try await state.confirm(10)
            try await state.next(20, after: 10, ["tasks": [.held("b", 2)]])
            let pending = try await state.find("b")
            #expect(pending.isPending && pending.cursor?.rawValue == 20 && pending.confirmed?.rawValue == 10)
            #expect(try await !state.find("a").isPending)
            // Two answers to one pull: the first comes back, so the second was lost.
            try await state.next(21, after: 10, ["tasks": [.held("c", 3)]])
            try await state.confirm(20)
            #expect(try await state.find("b").isPending == false)
            #expect(try await state.find("c").sights.isEmpty)
        }
    }

    @Test func `what was compacted into the base came with the newest cursor in it, or an older one`() async throws {
        try await Inspected.with { state in
            try await state.first(10, ["tasks": [.held("a", 1)]])
            try await state.next(20, after: 10, ["tasks": [.held("a", 2)]])
            try await state.confirm(20)
            let outline = try #require(
                try await state.store.read(Inspected.principal) {
                    try $0.replica(Inspected.replica).map { $0.outline(at: $0.tip ?? $0.newest) }
                })
            let base = try #require(outline.base)
            var compaction = LedgerCompactionBatch()
            let chunk = try #require(
                try await state.store.chunkReader.chunks(after: nil, in: "tasks", of: base, limit: 1).first)
            compaction.removed = [chunk.number]
            compaction.added = state.chunks(["tasks": [.held("a", 2)]])
            compaction.undo = [try cursor(20): state.chunks(["tasks": [.held("a", 1)]])]
            compaction.isLast = true
            let merge = try #require(LedgerMerge(of: outline, upTo: try cursor(20)))
            try await state.store.change(Inspected.principal) { [compaction] in
                try LedgerRules.compact(compaction, of: merge, at: 20, in: &$0)
            }
            let finding = try await state.find("a")
            #expect(try finding.sights.map(\.origin) == [.base(cursor(20))])
            #expect(finding.sights.map(\.entry.content) == [2])
            #expect(finding.isExact)
            try await state.next(30, after: 20, ["tasks": [.tombstone("a", 25)]])
            #expect(try await state.find("a").sights.map(\.origin) == [.cursor(cursor(30)), .base(cursor(20))])
        }
    }

    @Test func `the parent that a record names is found by its digest`() async throws {
        try await Inspected.with { state in
            let parent = IDHash(id: "p-1", key: state.inspector.key).link
            let other = IDHash(id: "p-9", key: state.inspector.key).link
            let projects = (0..<3_000).map { Inspected.Entry.held("p-\($0)", 7) }
            try await state.first(10, ["projects": projects.filter { $0.id != "p-9" }])
            try await state.confirm(10)
            try await state.next(
                20, after: 10,
                ["tasks": [.held("a", 1, link: parent), .held("b", 1, link: other), .held("c", 1)]])
            let a = try #require(try await state.find("a").parents.first)
            #expect(a.column == "project_id" && a.table == "projects" && a.id == "p-1" && a.isHeld)
            let b = try #require(try await state.find("b").parents.first)
            #expect(b.id == nil && !b.isHeld && b.digest == other)
            #expect(try await state.find("c").parents.isEmpty)
            try await state.confirm(20)
            try await state.next(30, after: 20, ["projects": [.tombstone("p-1", 5)]])
            let orphan = try #require(try await state.find("a").parents.first)
            #expect(orphan.id == "p-1" && !orphan.isHeld)
        }
    }

    @Test func `notes of pushes tell whether their echo is still to come`() async throws {
        try await Inspected.with { state in
            try await state.first(10, ["tasks": [.held("a", 1)]])
            try await state.confirm(10)
            try await state.store.change(Inspected.principal) {
                try NoteRules.write(
                    [PushNote(table: "tasks", id: "a", state: .held), PushNote(table: "tasks", id: "x", state: .seen)],
                    at: 11, in: &$0)
            }
            let a = try await state.find("a")
            #expect(a.note?.state == .held && a.isNoteNew)
            #expect(try await state.find("x").note?.state == .seen)
            #expect(try await state.find("b").note == nil)
            try await state.next(20, after: 10, ["tasks": [.held("a", 2)]], noted: 2)
            #expect(try await state.find("a").isNoteNew == false)
        }
    }

    @Test func `lines in quarantine are found by table and id, and those without an id are counted`() async throws {
        try await Inspected.with { state in
            let lines = [
                QuarantinedLine(reason: .notARecord, type: "TaskV1", table: "tasks", id: "q"),
                QuarantinedLine(reason: .noID, type: "TaskV1", table: "tasks", bytes: [1]),
                QuarantinedLine(reason: .noID, type: "ProjectV1", table: "projects", bytes: [2]),
                QuarantinedLine(reason: .notARecord, type: "ProjectV1", table: "projects", id: "q"),
            ]
            try await state.first(10, ["tasks": [.held("a", 1)]], quarantined: lines)
            let finding = try await state.find("q")
            #expect(finding.quarantined.map(\.line) == [lines[0]])
            #expect(finding.unreadable == 1)
        }
    }

    @Test func `a table without a ledger and a replica that has none say so`() async throws {
        try await Inspected.with(table: "ledger = off\n") { state in
            try await state.first(10, ["projects": [.held("p", 1)]])
            #expect(try await state.find("a").hasLedger == false)
            #expect(try await state.find("p", table: "projects").hasLedger)
        }
        try await Inspected.with { state in
            try await state.first(10, nil)
            #expect(try await state.find("a").hasLedger == false)
        }
    }

    @Test func `entries of another shape are not read by the present one`() async throws {
        try await Inspected.with { state in
            try await state.first(10, ["tasks": [.held("a", 1, link: 5)]], links: 2)
            let sight = try #require(try await state.find("a").sights.first)
            #expect(!sight.hasPresentShape && sight.entry.content == 1)
            #expect(try await state.find("a").parents.isEmpty)
        }
    }

    @Test func `a damaged ledger is an error`() async throws {
        try await Inspected.with { state in
            let hash = IDHash(id: "a", key: state.inspector.key)
            try await state.first(
                10, chunks: [LedgerChunk(table: "tasks", first: hash, entries: 1, bytes: [1, 2, 3])])
            await #expect(throws: LedgerError.damaged) { _ = try await state.find("a") }
        }
    }
}

private func cursor(_ value: Int64) throws -> Cursor { try #require(Cursor(rawValue: value)) }

/// A state with one replica, and an inspector that looks into it.
private struct Inspected {
    /// An entry as a test writes it.
    struct Entry {
        var id: String
        var state: LedgerState
        var content: UInt64?
        var goneAt: Instant = 0
        var link: UInt64 = 0

        static func held(_ id: String, _ content: UInt64?, link: UInt64 = 0) -> Self {
            Entry(id: id, state: .held, content: content, link: link)
        }
        static func tombstone(_ id: String, _ goneAt: Instant) -> Self {
            Entry(id: id, state: .tombstone, goneAt: goneAt)
        }
    }

    static let principal = Principal(rawValue: "a11ce")
    static let replica = ReplicaID(rawValue: 7)

    let store: Accounts
    let schema: Schema
    let inspector: LedgerInspector

    static func with(table: String = "", _ body: (Inspected) async throws -> Void) async throws {
        let text = """
            [identity]
            principal = bearer
            key = 0123456789abcdef0123456789abcdef
            [backend]
            url = http://backend.test
            [table projects]
            request = ProjectsV1
            upsert = ProjectV1
            [columns projects]
            name = string
            [table tasks]
            \(table)request = TasksV1, SharedTasksV1
            upsert = TaskV1, SharedTaskV1
            parent = project_id projects
            [columns tasks]
            project_id = string
            """
        let configuration = try Configuration.load(text)
        let directory = FileManager.default.temporaryDirectory.appending(path: "rind-inspector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "state.db").path(percentEncoded: false)
        let store = try await SQLiteStateStore.open(path: path)
        let inspector = LedgerInspector(configuration: configuration, store: store)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(Inspected(store: store, schema: configuration.schema, inspector: inspector)))
        } catch {
            result = .failure(error)
        }
        await store.close()
        try result.get()
    }

    func first(
        _ value: Int64, _ tables: [String: [Entry]]?, links: Int? = nil, quarantined: [QuarantinedLine] = []
    ) async throws {
        try await commit(value, nil, tables.map { chunks($0, links: links) }, quarantined: quarantined)
    }

    func first(_ value: Int64, chunks: [LedgerChunk]) async throws { try await commit(value, nil, chunks) }

    /// The next answer; what it was made from comes back by that.
    func next(_ value: Int64, after parent: Int64, _ tables: [String: [Entry]], noted: Int64 = 0) async throws {
        try await confirm(parent)
        try await commit(value, parent, chunks(tables), noted: noted)
    }

    func confirm(_ value: Int64) async throws {
        try await store.change(Self.principal) {
            try ReplicaRules.confirm(cursor(value), at: Instant(milliseconds: value), in: &$0)
        }
    }

    func find(_ id: String, table: String = "tasks") async throws -> RecordFinding {
        let row = try #require(try await store.inspection.replicas(of: nil, after: nil, limit: 1).first)
        return try await inspector.find(id, in: try #require(schema.table(named: table)), of: row)
    }

    private func commit(
        _ value: Int64, _ parent: Int64?, _ chunks: [LedgerChunk]?, noted: Int64 = 0,
        quarantined: [QuarantinedLine] = []
    ) async throws {
        let row = CursorRow(
            principal: Self.principal, cursor: try cursor(value), replica: Self.replica,
            parent: try parent.map(cursor), vector: CheckpointVector(["A": "A|\(value)"]), schemaVersion: 1,
            session: Session(rawValue: "f0"), generation: 0, mappingDigest: "m", noted: noted)
        let counts = (chunks ?? []).reduce(into: [String: LedgerCount]()) { counts, chunk in
            counts[chunk.table, default: LedgerCount()].entries += chunk.entries
        }
        try await store.commit(
            PullCommit(
                row: row, replica: parent == nil ? .new : .existing, quarantined: quarantined, now: row.cursor.time,
                ledger: chunks.map { .chunks($0, counts: counts) } ?? .none))
    }

    func chunks(_ tables: [String: [Entry]], links: Int? = nil) -> [LedgerChunk] {
        tables.sorted { $0.key < $1.key }.flatMap { name, entries -> [LedgerChunk] in
            let table = schema.table(named: name) ?? Table(name: name)
            var writer = LedgerChunkWriter(
                table: name, shape: links.map { LedgerShape(links: $0, feeds: 1) } ?? LedgerShape(table: table),
                maximumBytes: 4_096)
            var chunks: [LedgerChunk] = []
            for (hash, entry) in entries.map({ (IDHash(id: $0.id, key: inspector.key), $0) }).sorted(by: { $0.0 < $1.0 }
            ) {
                writer.append(
                    LedgerEntry(
                        id: entry.id, hash: hash, state: entry.state, content: entry.content,
                        links: entry.link == 0 ? [] : [entry.link], goneAt: entry.goneAt))
                while let chunk = writer.takeFullChunk() { chunks.append(chunk) }
            }
            if let rest = writer.takeRest() { chunks.append(rest) }
            return chunks
        }
    }
}
