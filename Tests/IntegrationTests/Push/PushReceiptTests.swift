// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// The very same push again: answered as before where that is safe, applied again where it might not be.
@Suite(.timeLimit(.minutes(5))) struct PushReceiptTests {
    static let created: DemoValue = .changes("tasks", created: [["id": "n-1", "name": "new", "project_id": "p-0"]])

    /// A stack with records, and the cursor of a first pull.
    static func started(
        _ options: StackOptions = StackOptions(), _ body: (GatewayStack, Int64) async throws -> Void
    ) async throws {
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 6)
            let cursor = try PulledChanges(await stack.sendPull()).cursor
            stack.backend.clearRequests()
            try await body(stack, cursor)
        }
    }

    @Test func `a push with its time that comes again is applied once`() async throws {
        try await Self.started { stack, cursor in
            let answers = try await [stack.sendPush(cursor, Self.created), stack.sendPush(cursor, Self.created)]
            #expect(answers.map(\.status) == [200, 200] && answers[0].body == answers[1].body)
            #expect(stack.backend.count("POST", "/sync/push") == 1)
        }
    }

    @Test func `a push with its time that comes twice at once is applied once`() async throws {
        try await Self.started { stack, cursor in
            stack.backend.inject(DemoFault("POST", "/sync/push", action: .delay(50)))
            async let one = stack.sendPush(cursor, Self.created)
            async let two = stack.sendPush(cursor, Self.created)
            let statuses = try await [one.status, two.status]
            #expect(statuses == [200, 200])
            #expect(stack.backend.count("POST", "/sync/push") == 1)
        }
    }

    @Test func `a push without a time is applied again`() async throws {
        try await Self.started { stack, _ in
            for _ in 0..<2 {
                let answer = try await stack.sendPush(nil, Self.created)
                #expect(answer.status == 200)
            }
            #expect(stack.backend.count("POST", "/sync/push") == 2)
        }
    }

    @Test func `18: after an answered pull the same push is applied again`() async throws {
        try await Self.started { stack, cursor in
            var update = DemoValue.changes("tasks", updated: [["id": "t-0", "name": "mine"]])
            #expect(try await stack.sendPush(cursor, update).status == 200)
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": "theirs"]))
            let pulled = try PulledChanges(await stack.sendPull(cursor))
            #expect(pulled.updated["tasks"]?["t-0"]?["name"] == "theirs")
            #expect(try await stack.sendPush(pulled.cursor, update).status == 200)
            // The same bytes with the time from before the pull are a conflict by now, not "seen before".
            update = .changes("tasks", updated: [["id": "t-0", "name": "mine"]])
            #expect(try await stack.sendPush(cursor, update).outcome == "409 push.conflict")
            #expect(try await stack.backend.records()["tasks"]?["t-0"]?["name"] == "mine")
        }
    }

    @Test func `18: an answered pull alone ends the receipt`() async throws {
        try await Self.started { stack, cursor in
            let update = DemoValue.changes("tasks", updated: [["id": "t-0", "name": "mine"]])
            #expect(try await stack.sendPush(cursor, update).status == 200)
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": "theirs"]))
            let pulled = try PulledChanges(await stack.sendPull(cursor))
            #expect(pulled.updated["tasks"]?["t-0"]?["name"] == "theirs")
            #expect(try await stack.sendPush(cursor, update).outcome == "409 push.conflict")
        }
    }

    @Test func `an idle pull ends receipts too`() async throws {
        try await Self.started { stack, cursor in
            let nothing = DemoValue.changes("tasks", deleted: ["never-was"])
            let answer = try await stack.sendPush(cursor, nothing)
            #expect(answer.status == 200)
            #expect(try PulledChanges(await stack.sendPull(cursor)).cursor == cursor)
            #expect(try await stack.sendPush(cursor, nothing).status == 200)
            #expect(stack.backend.count("POST", "/sync/push") == 2)
        }
    }

    @Test func `a receipt ends with its window`() async throws {
        let clock = ManualClock()
        var options = StackOptions()
        options.clock = ManualWallClock(clock)
        try await Self.started(options) { stack, cursor in
            for (seconds, pushes) in [(0, 1), (60, 1), (61, 2)] {
                clock.advance(byMilliseconds: Int64(seconds) * 1_000)
                let answer = try await stack.sendPush(cursor, .changes("tasks", deleted: ["never-was"]))
                #expect(answer.status == 200)
                #expect(stack.backend.count("POST", "/sync/push") == pushes)
            }
        }
    }

    @Test func `a receipt is shown only to a credential that the backend accepts`() async throws {
        try await Self.started(StackOptions(["identity.auth_ttl": "0s"])) { stack, cursor in
            let answer = try await stack.sendPush(cursor, Self.created)
            #expect(answer.status == 200)
            stack.backend.inject(DemoFault("GET", "/users/me", action: .status(401)))
            #expect(try await stack.sendPush(cursor, Self.created).outcome == "401 backend.credential")
        }
    }

    @Test func `a receipt is worth nothing to another user`() async throws {
        try await Self.started { stack, cursor in
            let tag = DemoValue.changes("tags", created: [["id": "tag-1", "label": "mine"]])
            for token in ["ada-token", "bob-token"] {
                _ = try await stack.sendPush(cursor, tag, token: token)
            }
            #expect(stack.backend.count("POST", "/sync/push") == 2)
        }
    }

    /// Pushes of which the last is the first one again, after another has undone it.
    static let undone: [[DemoValue]] = [
        ["1", "0", "1"].map { .changes("tags", updated: [["id": "tag-0", "label": .string($0)]]) },
        [
            .changes("tags", created: [["id": "n-1", "label": "new"]]), .changes("tags", deleted: ["n-1"]),
            .changes("tags", created: [["id": "n-1", "label": "new"]]),
        ],
        [
            .changes("tags", deleted: ["tag-0"]), .changes("tags", created: [["id": "tag-0", "label": "there"]]),
            .changes("tags", deleted: ["tag-0"]),
        ],
    ]

    @Test(arguments: undone, ["by calls", "in one request"])
    func `a push that another has undone is carried out when it comes again`(
        pushes: [DemoValue], way: String
    ) async throws {
        // With another session of the user, and without a time, the other push is just as much another one.
        for (token, statesTime) in [("ada-token", true), ("device-a", true), ("ada-token", false)] {
            let keys = ["push.conflicts": "none"]
            let options = way == "by calls" ? try StackOptions.pushingByCalls(keys) : StackOptions(keys)
            try await Self.started(options) { stack, cursor in
                try await stack.backend.edit(.put("tags", ["id": "tag-0", "label": "there"]))
                for (number, push) in pushes.enumerated() {
                    let isOther = number == 1
                    let answer = try await stack.sendPush(
                        isOther && !statesTime ? nil : cursor, push, token: isOther ? token : "ada-token")
                    #expect(answer.status == 200)
                }
                let tags = try await stack.backend.records()["tags"] ?? [:]
                if pushes[2] == Self.undone[0][2] { #expect(tags["tag-0"]?["label"] == "1") }
                if pushes[2] == Self.undone[1][2] { #expect(tags["n-1"] != nil) }
                if pushes[2] == Self.undone[2][2] { #expect(tags["tag-0"] == nil) }
            }
        }
    }

    @Test func `a push whose outcome is unknown ends the receipt of the one before`() async throws {
        let options = StackOptions([
            "push.conflicts": "none", "backend.resume_backoff": "2ms", "push.retry_budget": "20ms",
        ])
        try await Self.started(options) { stack, cursor in
            try await stack.backend.edit(.put("tags", ["id": "tag-0", "label": "there"]))
            #expect(try await stack.sendPush(cursor, Self.undone[0][0]).status == 200)
            stack.backend.inject(DemoFault("POST", "/sync/push", times: 20, action: .loseAnswer))
            #expect(try await stack.sendPush(cursor, Self.undone[0][1]).outcome == "502 push.unknown_outcome")
            stack.backend.clearFaults()
            #expect(try await stack.sendPush(cursor, Self.undone[0][2]).status == 200)
            #expect(try await stack.backend.records()["tags"]?["tag-0"]?["label"] == "1")
        }
    }

    @Test func `a push whose answer was lost is asked for again under the same key and applied once`() async throws {
        // A proxy may answer 503 although the backend went on.
        for action in [DemoFault.Action.loseAnswer, .status(500), .status(503, retryAfter: 1)] {
            try await Self.started { stack, cursor in
                stack.backend.inject(DemoFault("POST", "/sync/push", action: action))
                let answer = try await stack.sendPush(cursor, Self.created)
                #expect(answer.status == 200)
                let pushes = stack.backend.requests.filter { $0.path == "/sync/push" }
                #expect(pushes.count == 2)
                #expect(Set(pushes.map { $0.headers["idempotency-key"] ?? "" }).count == 1)
                #expect(Set(pushes.map(\.body)).count == 1)
                #expect(pushes[0].headers["idempotency-key"]?.count ?? 0 >= 16)
            }
        }
    }

    @Test func `a push whose outcome stays unknown is an honest error, and the next sync resolves it`() async throws {
        for action in [DemoFault.Action.loseAnswer, .status(500)] {
            try await GatewayStack.with(
                StackOptions(["backend.resume_backoff": "2ms", "push.retry_budget": "20ms"])
            ) { stack in
                try await stack.seed(tasks: 6)
                var device = try await stack.device()
                try await device.sync()
                try device.model.create("tasks", ["name": "new", "project_id": "p-0"])
                try device.model.update("tasks", "t-0", with: ["name": "mine"])
                stack.backend.inject(DemoFault("POST", "/sync/push", times: 20, action: action))
                do {
                    try await device.sync()
                    Issue.record("the push was answered with success")
                } catch StackDevice.Failure.push(let answer) {
                    #expect(answer.outcome == "502 push.unknown_outcome" && answer["Retry-After"] != nil)
                }
                stack.backend.clearFaults()
                try await device.sync()
                #expect(!device.model.hasUnsyncedChanges)
                try await device.sync()
                try await stack.expectEqual(device)
            }
        }
    }
}

extension DemoValue {
    /// The changes of one table as a push has them.
    static func changes(
        _ table: String, created: [DemoValue] = [], updated: [DemoValue] = [], deleted: [String] = []
    ) -> DemoValue {
        DemoValue.object([:]).with(table, created: created, updated: updated, deleted: deleted)
    }

    /// The same with the changes of one more table.
    func with(
        _ table: String, created: [DemoValue] = [], updated: [DemoValue] = [], deleted: [String] = []
    ) -> DemoValue {
        var tables = object ?? [:]
        tables[table] = [
            "created": .array(created), "updated": .array(updated), "deleted": .array(deleted.map { .string($0) }),
        ]
        return .object(tables)
    }
}
