// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncMachines
import SyncModel
import Testing

@Suite struct PushPlanTests {
    private static func schema() -> Schema {
        var projects = Table(name: "projects")
        projects.columns = [Column(name: "name", type: .string)]
        var comments = Table(name: "comments")
        var task = Column(name: "task_id", type: .string)
        task.reference = "tasks"
        comments.columns = [task]
        var tasks = Table(name: "tasks")
        tasks.parents = [Table.Parent(column: "project_id", table: "projects")]
        return Schema(tables: [comments, tasks, projects])
    }

    private static func record(_ id: String) -> PushedRecord { PushedRecord(id: id, range: 0..<2) }

    @Test func `parents are created before children and deleted after them`() {
        let changes = [
            PushedTable(name: "comments", created: [Self.record("c")], deleted: ["cx"]),
            PushedTable(name: "projects", updated: [Self.record("p")], deleted: ["px"]),
            PushedTable(name: "tasks", created: [Self.record("t")], deleted: ["tx"]),
        ]
        let plan = PushPlan(changes: changes, schema: Self.schema())
        #expect(plan.operations.map(\.id) == ["p", "t", "c", "cx", "tx", "px"])
        #expect(plan.operations.map(\.kind) == [.update, .create, .create, .delete, .delete, .delete])
    }

    @Test func `records of unknown tables are dropped and counted`() {
        let changes = [
            PushedTable(name: "local_drafts", created: [Self.record("d")], deleted: ["e"]),
            PushedTable(name: "empty"), PushedTable(name: "projects", deleted: ["p"]),
        ]
        let plan = PushPlan(changes: changes, schema: Self.schema())
        #expect(plan.operations.map(\.id) == ["p"])
        #expect(plan.dropped == ["local_drafts": 2])
    }

    @Test func `tables that refer to each other keep the configured order and none is lost`() {
        var a = Table(name: "a")
        a.parents = [Table.Parent(column: "b_id", table: "b")]
        var b = Table(name: "b")
        b.parents = [Table.Parent(column: "a_id", table: "a"), Table.Parent(column: "b_id", table: "b")]
        let changes = ["b", "a"].map { PushedTable(name: $0, created: [Self.record($0)]) }
        let plan = PushPlan(changes: changes, schema: Schema(tables: [a, b]))
        #expect(plan.operations.map(\.id) == ["a", "b"])
    }

    private static func tree() -> Schema {
        var nodes = Table(name: "nodes")
        var parent = Column(name: "parent_id", type: .string)
        parent.reference = "nodes"
        nodes.columns = [parent]
        return Schema(tables: [nodes])
    }

    /// Each letter refers to the next ones of its word.
    private static func plan(_ words: [String], deleted: Bool = false) -> [String] {
        var references: [String: [String]] = [:]
        for word in words { references[String(word.prefix(1)), default: []] += word.dropFirst().map(String.init) }
        let ids = words.map { String($0.prefix(1)) }
        let changes =
            deleted
            ? PushedTable(name: "nodes", deleted: ids) : PushedTable(name: "nodes", created: ids.map(record))
        return PushPlan(changes: [changes], schema: tree()) { operation in
            (references[operation.id] ?? []).map { PushReference(table: operation.table, id: $0) }
        }.operations.map(\.id)
    }

    @Test(
        arguments: [
            (["ab", "bc", "c"], "cba"), (["c", "bc", "ab"], "cba"), (["a", "b", "c"], "abc"),
            (["ax", "b"], "ab"), (["aa", "b"], "ab"), (["abc", "cb", "b"], "bca"), (["ab", "ba", "ca"], "bac"),
        ] as [([String], String)])
    func `in a table that refers to itself records come behind those that they refer to`(
        _ row: (words: [String], order: String)
    ) {
        #expect(Self.plan(row.words).joined() == row.order)
        #expect(Self.plan(row.words, deleted: true).joined() == String(row.order.reversed()))
    }

    @Test func `a chain as long as a large push is ordered`() {
        let count = 50_000
        let changes = PushedTable(name: "nodes", created: (0..<count).map { Self.record("\($0)") })
        let plan = PushPlan(changes: [changes], schema: Self.tree()) { operation in
            [PushReference(table: 0, id: "\((Int(operation.id) ?? 0) + 1)")]
        }
        #expect(plan.operations.first?.id == "\(count - 1)" && plan.operations.last?.id == "0")
        #expect(plan.operations.count == count)
    }

    @Test func `in tables that refer to each other records are ordered across the tables`() {
        var a = Table(name: "a")
        a.parents = [Table.Parent(column: "b_id", table: "b")]
        var b = Table(name: "b")
        b.parents = [Table.Parent(column: "a_id", table: "a")]
        let changes = [
            PushedTable(name: "a", created: [Self.record("1")], updated: [Self.record("2")]),
            PushedTable(name: "b", created: [Self.record("3")]),
        ]
        let plan = PushPlan(changes: changes, schema: Schema(tables: [a, b])) { operation in
            switch operation.id {
            case "1": [PushReference(table: 1, id: "3")]
            case "3": [PushReference(table: 0, id: "2")]
            default: []
            }
        }
        #expect(plan.operations.map(\.id) == ["2", "3", "1"])
    }

    @Test func `operations of one level do not depend on each other`() {
        let changes = PushedTable(
            name: "nodes", created: ["a", "b", "c", "d"].map(Self.record), updated: [Self.record("b")],
            deleted: ["x", "y"])
        let parents = ["a": "b", "c": "d", "y": "x"]
        let plan = PushPlan(changes: [changes], schema: Self.tree()) { operation in
            parents[operation.id].map { [PushReference(table: operation.table, id: $0)] } ?? []
        }
        #expect(plan.levels.map { plan.operations[$0].map(\.id).sorted().joined() } == ["bd", "bc", "a", "y", "x"])
        #expect(plan.operations.map(\.kind).suffix(2) == [.delete, .delete])
    }

    @Test func `a table is one level, but for a second operation on one record`() {
        let changes = [
            PushedTable(name: "projects", created: [Self.record("p"), Self.record("q")], updated: [Self.record("p")]),
            PushedTable(name: "tasks", created: [Self.record("t")], deleted: ["u", "v"]),
        ]
        let plan = PushPlan(changes: changes, schema: Self.schema())
        #expect(plan.levels.map { plan.operations[$0].map(\.id).joined() } == ["pq", "p", "t", "uv"])
    }
}
