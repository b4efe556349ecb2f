// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import LineProjection
import SyncMachines
import SyncModel
import Testing

/// What goes with deleted records by the client's ledger, and in which order.
@Suite struct DescendantSearchTests {
    typealias Bench = LedgerDiffBench

    /// Two projects, of which the first has tasks with comments; and nodes in a tree.
    private static func bench(cascading: Set<String> = ["projects", "tasks", "nodes"]) async throws -> Bench {
        var bench = Bench(
            Bench.table("comments", parents: ["tasks"]), Bench.table("projects"),
            Bench.table("tasks", parents: ["projects"]), Bench.table("nodes", parents: ["nodes"]))
        for place in bench.tables.indices where cascading.contains(bench.tables[place].name) {
            bench.tables[place].cascade = .gateway
        }
        _ = try await bench.pull { stream in
            for id in ["p", "q"] { stream.row("projects", id) }
            for (id, project) in [("t1", "p"), ("t2", "p"), ("u", "q"), ("orphan", "")] {
                stream.row("tasks", id, in: project)
            }
            for (id, task) in [("c1", "t1"), ("c2", "t2"), ("d", "u")] { stream.row("comments", id, in: task) }
            for (id, parent) in [("n0", ""), ("n1", "n0"), ("n2", "n1"), ("n3", "n2"), ("m", "")] {
                stream.row("nodes", id, in: parent)
            }
        }
        return bench
    }

    private static func operations(
        _ bench: Bench, deleted: [String: [String]], updated: [String: [String]] = [:]
    ) -> [PushOperation] {
        bench.tables.enumerated().flatMap { place, table in
            (updated[table.name] ?? []).map { PushOperation(kind: .update, table: place, id: $0, range: 0..<2) }
                + (deleted[table.name] ?? []).map { PushOperation(kind: .delete, table: place, id: $0, range: nil) }
        }
    }

    private static func held(_ bench: Bench) -> HeldRecords {
        HeldRecords(
            schema: Schema(tables: bench.tables), source: bench.ledger, layers: bench.layers, notes: bench.notes,
            key: Bench.key)
    }

    private static func descendants(
        _ bench: Bench, of deleted: [String: [String]], updated: [String: [String]] = [:], maximum: Int = 100
    ) async throws -> Set<String> {
        var search = DescendantSearch(held(bench), maximum: maximum, maximumPairs: 2_000)
        let found = try await search.run(operations(bench, deleted: deleted, updated: updated))
        return Set(found.flatMap { place, ids in ids.map { "\(bench.tables[place].name)/\($0)" } })
    }

    @Test func `what hangs on a deleted record goes with it, however deep`() async throws {
        let bench = try await Self.bench()
        #expect(
            try await Self.descendants(bench, of: ["projects": ["p"]]) == [
                "tasks/t1", "tasks/t2", "comments/c1", "comments/c2",
            ])
        #expect(try await Self.descendants(bench, of: ["nodes": ["n1"]]) == ["nodes/n2", "nodes/n3"])
        #expect(try await Self.descendants(bench, of: ["tasks": ["orphan", "never"], "nodes": ["n3"]]) == [])
    }

    @Test func `it ends where a table leaves it to the backend`() async throws {
        let bench = try await Self.bench(cascading: ["projects"])
        #expect(try await Self.descendants(bench, of: ["projects": ["p"]]) == ["tasks/t1", "tasks/t2"])
        #expect(try await Self.descendants(bench, of: ["tasks": ["t1"], "nodes": ["n0"]]) == [])
        let operations = Self.operations(bench, deleted: ["tasks": ["t1"], "nodes": ["n0"]])
        #expect(!DescendantSearch.isNeeded(for: operations, in: Schema(tables: bench.tables)))
        let more = Self.operations(bench, deleted: ["projects": ["q"]])
        #expect(DescendantSearch.isNeeded(for: more, in: Schema(tables: bench.tables)))
    }

    @Test func `a record that the push names stays as it is pushed, with what hangs on it`() async throws {
        let bench = try await Self.bench()
        let found = try await Self.descendants(
            bench, of: ["projects": ["p"], "comments": ["c2"]], updated: ["tasks": ["t1"]])
        #expect(found == ["tasks/t2"])
        let nodes = try await Self.descendants(bench, of: ["nodes": ["n0"]], updated: ["nodes": ["n2"]])
        #expect(nodes == ["nodes/n1"])
    }

    @Test func `what a push has put below it since counts, but not what is merely seen or gone`() async throws {
        var bench = try await Self.bench()
        let link = IDHash(id: "p", key: Bench.key).link
        let shape = LedgerShape(table: bench.tables[2])
        for (id, state) in [
            ("new", PushNote.State.held), ("seen", .seen), ("refused", .refused), ("t1", .gone), ("t2", .seen),
        ] {
            bench.notes.append(
                PushNote(table: "tasks", id: id, state: state, sequence: 1, links: [link], shape: shape.tag))
        }
        bench.notes.append(PushNote(table: "tasks", id: "other", state: .held, links: [link], shape: shape.tag &+ 1))
        #expect(
            try await Self.descendants(bench, of: ["projects": ["p"]]) == ["tasks/new", "tasks/t2", "comments/c2"])
    }

    @Test func `more than a push may delete is an error`() async throws {
        let bench = try await Self.bench()
        #expect(try await Self.descendants(bench, of: ["projects": ["p"]], maximum: 4).count == 4)
        await #expect(throws: DescendantSearch.Failure.tooMany) {
            _ = try await Self.descendants(bench, of: ["projects": ["p"]], maximum: 3)
        }
    }

    @Test func `a tree as deep as it has records is followed in two walks`() async throws {
        var bench = try await Self.bench()
        _ = try await bench.pull { stream in
            for number in 1...1_000 { stream.row("nodes", "k\(number)", in: "k\(number - 1)") }
        }
        #expect(try await Self.descendants(bench, of: ["nodes": ["k0"]], maximum: 1_000).count == 1_000)
        // In a circle, too.
        _ = try await bench.pull { $0.row("nodes", "k1", in: "k1000", content: 2) }
        #expect(try await Self.descendants(bench, of: ["nodes": ["k7"]], maximum: 1_000).count == 999)
    }

    @Test func `records of tables that refer to themselves are deleted before what they hang on`() async throws {
        let bench = try await Self.bench()
        let schema = Schema(tables: bench.tables)
        let changes = [PushedTable(name: "nodes", deleted: ["n0", "n3", "m", "n1", "n2", "never"])]
        let references = try await DeletionReferences(Self.held(bench)).find([3: changes[0].deleted])
        let plan = PushPlan(changes: changes, schema: schema) {
            references[PushReference(table: $0.table, id: $0.id)] ?? []
        }
        let chain = plan.operations.map(\.id).filter { $0.hasPrefix("n") && $0 != "never" }
        #expect(chain == ["n3", "n2", "n1", "n0"] && plan.operations.count == 6)
        let deletions = Self.operations(bench, deleted: ["nodes": ["n0", "n1"]])
        #expect(DeletionReferences.areNeeded(for: deletions, in: schema))
        let others = Self.operations(bench, deleted: ["tasks": ["t1", "t2"], "nodes": ["n0"]])
        #expect(!DeletionReferences.areNeeded(for: others, in: schema))
    }
}
