// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// Operations of which no call can be made: they stop no others, and reach no other address.
@Suite(.timeLimit(.minutes(5))) struct UnsendablePushTests {
    /// One of them, and what it counts as.
    struct Odd: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let table: String
        let id: String
        let code: String
        let changes: DemoValue

        static func deleted(_ id: String) -> Odd {
            Odd(
                testDescription: "deletion of \(id.debugDescription)", table: "tags", id: id, code: "push.unsafe_id",
                changes: .changes("tags", deleted: [id]))
        }

        static func created(_ name: String, id: String = "n", _ taskID: String?, code: String) -> Odd {
            var record: [String: DemoValue] = ["id": .string(id), "tag_id": "g"]
            record["task_id"] = taskID.map { .string($0) }
            return Odd(
                testDescription: name, table: "task_tags", id: id, code: code,
                changes: .changes("task_tags", created: [.object(record)]))
        }

        static let all =
            ["../sync/ack", "..", ".", "a/b", "a\nb", "a\0b", "a\\b", "%2e%2e", "%2e%2e%2fsync%2fack", "..;x"].map(
                deleted)
            + [
                created("an empty place in the path", "", code: "push.unsendable"),
                created("a column that the app lacks", nil, code: "push.unsendable"),
                created("an address that is too long", String(repeating: "x", count: 20_000), code: "push.unsendable"),
                created("a column that leaves its place", "../projects", code: "push.unsafe_id"),
            ]
    }

    private static func push(
        _ odd: Odd, _ rejected: String, _ body: (GatewayStack, RawAnswer) async throws -> Void
    ) async throws {
        try await GatewayStack.with(.pushingByCalls(["push.rejected": rejected, "push.parallel": "1"])) { stack in
            try await stack.backend.edit(.put("tags", ["id": "kept"]))
            stack.backend.clearRequests()
            let answer = try await stack.sendPush(
                nil, odd.changes.with("projects", created: [["id": "p", "name": "n"]]))
            let writes = CallPushTests.writes(stack)
            #expect(Set(writes).isSubset(of: ["POST /projects"]))
            try await body(stack, answer)
        }
    }

    @Test(arguments: Odd.all)
    func `an operation that cannot be sent is refused with its own code, and nothing goes out`(_ odd: Odd) async throws
    {
        try await Self.push(odd, "fail") { stack, answer in
            #expect(answer.outcome == "422 \(odd.code)")
            #expect(stack.logged(odd.code).count >= 1)
        }
    }

    @Test(arguments: Odd.all)
    func `with 'report' the others are applied and the answer names it`(_ odd: Odd) async throws {
        try await Self.push(odd, "report") { stack, answer in
            #expect(answer.status == 200)
            let named = DemoValue(parsing: answer.body)?["experimentalRejectedIds"]?[odd.table]
            #expect(named == .array([.string(odd.id)]))
            let projects = try await stack.records("projects")
            #expect(projects["p"] != nil)
        }
    }

    @Test(arguments: [Odd.all[0], Odd.all[10]])
    func `with 'quarantine' it is quarantined with the reason, and a retry leaves it there`(_ odd: Odd) async throws {
        try await Self.push(odd, "quarantine") { stack, answer in
            #expect(answer.status == 200 && answer.text == "{}")
            #expect(try await stack.records("projects")["p"] != nil)
            let admin = stack.store
            let entry = try #require(try await admin.inspection.quarantinedPushes(of: nil, after: 0, limit: 9).first)
            #expect(entry.push.key.id == odd.id && entry.push.reason.code == odd.code)
            _ = try await admin.commands.scheduleRetries(nil, of: nil, at: 1_800_000_000_000)
            _ = try await stack.pull(nil)
            let again = try #require(try await admin.inspection.quarantinedPushes(of: nil, after: 0, limit: 9).first)
            #expect(again.count == 2 && again.markedAt == nil && again.push.reason.code == odd.code)
        }
    }

    /// Ids that no record can have; the second one is longer than the limit by a byte.
    private static let unfitIDs = ["", String(repeating: "x", count: 256)]

    @Test(arguments: unfitIDs, PushStyle.allCases)
    func `an id that no record can have is refused alone where refusals are reported`(
        id: String, style: PushStyle
    ) async throws {
        try await GatewayStack.with(style.options(["push.rejected": "report"])) { stack in
            let push = DemoValue.changes("tags", created: [["id": .string(id), "label": "odd"]])
                .with("projects", created: [["id": "p", "name": "n"]])
            let answer = try await stack.sendPush(nil, push)
            #expect(answer.status == 200, "\(answer)")
            let named = DemoValue(parsing: answer.body)?["experimentalRejectedIds"]
            #expect(named == .object(["tags": .array([.string(id)])]))
            #expect(try await stack.records("projects")["p"] != nil)
            #expect(try await stack.records("tags").isEmpty)
            #expect(stack.logged("push.unsafe_id").count >= 1)
        }
    }

    @Test(arguments: unfitIDs, PushStyle.allCases)
    func `an id that no record can have is quarantined alone`(
        id: String, style: PushStyle
    ) async throws {
        try await GatewayStack.with(style.options(["push.rejected": "quarantine"])) { stack in
            let push = DemoValue.changes("tags", created: [["id": .string(id), "label": "odd"]])
                .with("projects", created: [["id": "p", "name": "n"]])
            #expect(try await stack.sendPush(nil, push).status == 200)
            #expect(try await stack.records("projects")["p"] != nil)
            let admin = stack.store
            let entry = try #require(try await admin.inspection.quarantinedPushes(of: nil, after: 0, limit: 9).first)
            #expect(entry.push.key.id == id && entry.push.reason.code == "push.unsafe_id")
        }
    }

    @Test(arguments: PushStyle.allCases)
    func `half a surrogate pair in an id stops its push, since a repaired id would name another record`(
        style: PushStyle
    ) async throws {
        try await GatewayStack.with(style.options(["push.rejected": "report"])) { stack in
            let body = #"{"tags":{"created":[{"id":"a\ud800b"}]}}"#
            let answer = try await stack.send("POST", "/sync", token: "ada-token", body: Array(body.utf8))
            #expect(answer.outcome == "400 request.record_id", "\(answer)")
            #expect(try await stack.records("tags").isEmpty)
        }
    }

    @Test func `a deletion whose address is unknown is nothing to do`() async throws {
        try await GatewayStack.with(.pushingByCalls()) { stack in
            _ = try await stack.pull(nil)
            stack.backend.clearRequests()
            let changes = DemoValue.changes("task_tags", deleted: ["k4X81mPq0aBcDeFg"])
            #expect(try await stack.sendPush(nil, changes).status == 200)
            #expect(CallPushTests.writes(stack).isEmpty)
        }
    }
}
