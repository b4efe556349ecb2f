// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
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
}
