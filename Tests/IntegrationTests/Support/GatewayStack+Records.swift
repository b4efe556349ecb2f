// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

extension GatewayStack {
    /// Makes a small set of records: 2 projects and their tasks, comments, tags and labels.
    func seed(tasks: Int = 40) async throws {
        var seed = DemoSeed()
        seed.projects = 2
        seed.tasks = tasks
        seed.comments = 0
        seed.tags = 2
        seed.taskTags = 0
        try await backend.seed(seed)
        // Of a task that no test deletes: its comments would go without a word.
        for number in 0..<5 {
            try await backend.edit(.put("comments", ["id": .string("c-\(number)"), "body": "seed", "taskId": "t-5"]))
        }
    }

    /// Expects that a device holds what its user should see.
    func expectEqual(_ device: StackDevice, _ location: SourceLocation = #_sourceLocation) async throws {
        let differences = try await differences(of: device)
        #expect(differences == [], sourceLocation: location)
    }

    /// Changes nine of the records of ``seed(tasks:)`` and deletes two.
    func change() async throws {
        var edits: [DemoEdit] = [.put("projects", ["id": "p-0", "name": "changed"])]
        for number in 5..<10 { edits.append(.put("tasks", ["id": .string("t-\(number)"), "name": "changed"])) }
        edits.append(.put("tasks", ["id": "t-new", "name": "new", "projectId": "p-0"]))
        edits.append(.put("comments", ["id": "c-new", "body": "new", "taskId": "t-new"]))
        edits.append(.put("tags", ["id": "ada-tag-0", "label": "changed"]))
        edits += [.delete("tasks", "t-1"), .delete("tasks", "t-2")]
        try await backend.edit(edits)
    }
}
