// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// What an operator learns of a push that was refused: which operation, by which call, and what the backend said.
@Suite(.timeLimit(.minutes(5))) struct RefusedPushTests {
    /// A way of refusing, and the line that tells of it.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var style = PushStyle.calls
        /// What is done to the configuration's text.
        var change: [String: String] = [:]
        var rejectedIDs: Set<String> = []
        var fault: DemoFault?
        let changes: DemoValue
        var outcome = "422 push.rejected"
        let line: [String: String]

        private static let tag = DemoValue.changes("tags", created: [["id": "n-1", "label": "new"]])

        static let all = [
            Way(
                testDescription: "a sentence of the backend", rejectedIDs: ["n-1"], changes: tag,
                line: [
                    "table": "tags", "record": "n-1", "operation": "create", "call": "POST /tags",
                    "backend_status": "400", "reason": "status 400: this id is refused",
                ]),
            Way(
                testDescription: "a status that the configuration names",
                change: ["create = POST /tags exists 409": "create = POST /tags rejected 400"], rejectedIDs: ["n-1"],
                changes: tag,
                line: [
                    "call": "POST /tags", "backend_status": "400", "reason": "status 400: this id is refused",
                ]
            ),
            Way(
                testDescription: "a status without a word", fault: DemoFault("POST", "/tags", action: .status(403)),
                changes: tag, line: ["call": "POST /tags", "backend_status": "403"]),
            Way(
                testDescription: "a success whose body says no",
                change: ["0.success true | 0.error duplicate": "0.success never"],
                changes: .changes(
                    "task_tags", created: [["id": "t-0.tag-0", "task_id": "t-0", "tag_id": "tag-0"]]),
                line: [
                    "operation": "create", "call": "PUT /tasks/{task_id}/tags", "backend_status": "200",
                    "reason": "status 200, and the answer meets no condition of 'when'",
                ]),
            Way(
                testDescription: "a table without the call",
                change: ["remove = DELETE /tags/{id} missing 404": ""], changes: .changes("tags", deleted: ["tag-0"]),
                line: [
                    "operation": "delete",
                    "reason": "the configuration has no 'remove' for this table, and no '[push] path'",
                ]),
            Way(
                testDescription: "a conflict", fault: DemoFault("PATCH", "/tasks/t-0", action: .status(412)),
                changes: .changes("tasks", updated: [["id": "t-0", "name": "mine"]]), outcome: "409 push.conflict",
                line: ["operation": "update", "call": "PATCH /tasks/{id}", "backend_status": "412"]),
            Way(
                testDescription: "a stream push", style: .stream, rejectedIDs: ["n-1"], changes: tag,
                line: [
                    "table": "tags", "record": "n-1", "operation": "create", "call": "POST /sync/push",
                    "reason": "outcome rejected: this id is refused",
                ]),
        ]
    }

    private static func refused(_ way: Way, _ body: (GatewayStack, RawAnswer) async throws -> Void) async throws {
        var options = try way.style.options(["push.retry_budget": "0s"])
        for (old, new) in way.change {
            #expect(options.configuration?.contains(old) == true)
            options.configuration = options.configuration?.replacing(old, with: new)
        }
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 2)
            try await stack.backend.edit(.put("tags", ["id": "tag-0", "label": "there"]))
            var device = try await stack.device()
            try await device.sync()
            stack.backend.rejectedIDs = way.rejectedIDs
            if let fault = way.fault { stack.backend.inject(fault) }
            let cursor = device.model.lastPulledAt.map { Int64($0) }
            try await body(stack, try await stack.sendPush(cursor, way.changes, token: device.token))
        }
    }

    @Test(arguments: Way.all)
    func `one line tells of each refused operation, and the commands' state keeps it`(_ way: Way) async throws {
        try await Self.refused(way) { stack, answer in
            #expect(answer.outcome == way.outcome)
            let lines = stack.log.lines(containing: "an operation of a push was refused")
            let line = try #require(lines.first)
            #expect(lines.count == 1 && "\(line.level)" == "info")
            for (name, value) in way.line { #expect(line.metadata[name] == value, "\(name)") }
            #expect(answer.outcome.hasSuffix(line.metadata["code"] ?? "-"))

            let admin = stack.store
            let row = try #require(try await admin.inspection.replicas(of: nil, after: nil, limit: 2).first)
            #expect(row.lastResult == "push refused: 1 operation, \(line.metadata["code"] ?? "-")")
            let entry = try #require(try await admin.read(row.principal) { try RefusalRules.newest(9, in: &$0) }.first)
            #expect(entry.operation.key.id == line.metadata["record"] && entry.count == 1)
            #expect(entry.operation.call == line.metadata["call"])
            #expect(entry.operation.reason.message == line.metadata["reason"])
        }
    }

    @Test func `of a push with many refusals the first ones are told, and how many there are`() async throws {
        try await GatewayStack.with(.pushingByCalls(["push.rejected": "report", "push.parallel": "1"])) { stack in
            let ids = (10..<40).map { "n-\($0)" }
            stack.backend.rejectedIDs = Set(ids)
            let created = ids.map { DemoValue.object(["id": .string($0), "label": "new"]) }
            #expect(try await stack.sendPush(nil, .changes("tags", created: created)).status == 200)
            #expect(stack.log.lines(containing: "an operation of a push was refused").count == 20)
            let more = try #require(stack.log.lines(containing: "more operations of a push were refused").first)
            #expect(more.metadata["operations"] == "30")
        }
    }

    @Test func `of an operation with an unknown outcome the log and the journal name the call`() async throws {
        let options = try StackOptions.pushingByCalls(["push.retry_budget": "0s", "push.parallel": "1"])
        try await GatewayStack.with(options) { stack in
            var device = try await stack.device()
            try await device.sync()
            stack.backend.inject(DemoFault("PATCH", "/tags/n-2", action: .status(500)))
            let changes = DemoValue.changes(
                "tags", created: [["id": "n-1", "label": "new"]], updated: [["id": "n-2", "label": "new"]])
            let cursor = device.model.lastPulledAt.map { Int64($0) }
            let answer = try await stack.sendPush(cursor, changes, token: device.token)
            #expect(answer.outcome == "502 push.unknown_outcome")
            let line = try #require(stack.logged("backend.failed").first { $0.metadata["record"] == "n-2" })
            #expect(line.metadata["table"] == "tags" && line.metadata["call"] == "PATCH /tags/{id}")
            #expect(line.metadata["error"]?.hasPrefix("the backend failed (500)") == true)
            let admin = stack.store
            let row = try #require(try await admin.inspection.replicas(of: nil, after: nil, limit: 2).first)
            #expect(row.lastResult == "push failed: push.unknown_outcome")
            let journals = stack.store
            let journal = try #require(
                try await journals.inspection.journals(of: row.principal, after: 0, limit: 2).first)
            #expect(journal.failure?.message?.hasPrefix("the backend failed (500)") == true)
        }
    }

    @Test func `what was refused is kept where the push then ends by an error`() async throws {
        let options = try StackOptions.pushingByCalls(["push.rejected": "report", "push.parallel": "1"])
        try await GatewayStack.with(options) { stack in
            var device = try await stack.device()
            try await device.sync()
            stack.backend.rejectedIDs = ["n-1"]
            stack.backend.inject(DemoFault("POST", "/tags", skipping: 1, action: .status(401)))
            let created: [DemoValue] = [["id": "n-1", "label": "new"], ["id": "n-2", "label": "new"]]
            let cursor = device.model.lastPulledAt.map { Int64($0) }
            let answer = try await stack.sendPush(cursor, .changes("tags", created: created), token: device.token)
            #expect(answer.outcome == "401 backend.credential")
            let admin = stack.store
            let row = try #require(try await admin.inspection.replicas(of: nil, after: nil, limit: 2).first)
            #expect(
                try await admin.read(row.principal) { try RefusalRules.newest(9, in: &$0) }.map(\.operation.key.id) == [
                    "n-1"
                ])
        }
    }

    @Test func `what a backend repeats of a credential stands in no line`() async throws {
        try await GatewayStack.with(.pushingByCalls(["push.retry_budget": "0s"])) { stack in
            stack.backend.rejectedTexts = ["device-a"]
            let changes = DemoValue.changes("tags", created: [["id": "n-1", "label": "my device-a"]])
            #expect(try await stack.sendPush(nil, changes, token: "device-a").outcome == "422 push.rejected")
            let line = try #require(stack.log.lines(containing: "an operation of a push was refused").first)
            #expect(line.metadata["reason"] == "status 400: '********' is refused")
        }
    }
}
