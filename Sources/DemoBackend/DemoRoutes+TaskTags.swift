// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// The routes for labels on a task: many at once, each with a result of its own inside a 200.
extension DemoRoutes {
    func addTaskTags(to router: Router<DemoContext>) {
        router.put("/tasks/:id/tags") { request, context in
            try await changeTags(of: try context.parameters.require("id"), request, adding: true)
        }
        router.delete("/tasks/:id/tags") { request, context in
            try await changeTags(of: try context.parameters.require("id"), request, adding: false)
        }
    }

    private func changeTags(of task: String, _ request: Request, adding: Bool) async throws -> Response {
        let caller = try await caller(of: request)
        guard let ids = try await members(of: request)["ids"]?.array?.map(\.string) else {
            throw DemoError.badRequest("ids must be an array of strings")
        }
        let results: [DemoValue] = try await perform(for: caller) { records, _ in
            guard try records.isVisible(.tasks, key: [task]) else { throw missing }
            return try ids.map { id in
                guard let id else { throw DemoError.badRequest("each value in ids must be a string") }
                guard let error = try change(id, of: task, records, adding: adding) else {
                    return ["id": .string(id), "success": true]
                }
                return ["id": .string(id), "success": false, "error": .string(error)]
            }
        }
        return Response(json: .array(results))
    }

    /// Adds or removes one label and returns the name of the error; nil if it worked.
    private func change(_ tag: String, of task: String, _ records: RecordGuard, adding: Bool) throws -> String? {
        let exists = try records.writer.exists(.taskTags, key: [task, tag])
        do {
            if adding {
                guard !exists else { return "duplicate" }
                guard try records.isVisible(.tags, key: [tag]) else { return "not_found" }
                try records.create(.taskTags, key: [task, tag], data: [:])
            } else {
                guard exists else { return "not_found" }
                try records.delete(.taskTags, key: [task, tag])
            }
            return nil
        } catch let refusal as RecordGuard.Refusal {
            return refusal.outcome == .rejected ? "no_permission" : "unknown"
        }
    }
}
