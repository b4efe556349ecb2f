// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Foundation
import GatewayTesting
import SQLiteState
import StateStore
import SyncModel
import Testing

/// Findings 19 and 20: a creation whose outcome is unknown, in a backend that makes its own ids.
@Suite(.timeLimit(.minutes(5))) struct JournalFindingTests {
    /// How the gateway can find out what has become of a creation.
    enum Means: String, CaseIterable {
        case key, reference, match, nothing
    }

    /// A backend that makes its own ids; tasks have the client's id as their note where it is given back.
    static func options(_ means: Means, _ overrides: [String: String] = [:]) throws -> StackOptions {
        var options = try StackOptions.pushingByCalls(
            ["pull.repeat_window": "0s", "push.retry_budget": "0s"].merging(overrides) { $1 })
        options.backend.acceptsClientIDs = false
        if means == .key { options.overrides["push.idempotency_header"] = "Idempotency-Key" }
        let outcome = means == .reference ? "returns id ref note" : "returns id"
        let note = means == .reference ? "{id}" : "{note}"
        var text = try StackConfiguration.withCalls()
        let old = try #require(text.firstRange(of: "create = POST /tasks exists 409 body {\"id\":\"{id}\","))
        text.replaceSubrange(old, with: "create = POST /tasks \(outcome) body {")
        text = text.replacing("\"note\":\"{note}\"", with: "\"note\":\"\(note)\"")
        if means == .match { text = text.replacing("create = POST /tasks", with: "match = name\ncreate = POST /tasks") }
        options.configuration = text
        return options
    }

    /// Creates a task whose answer is lost.
    static func createLosingAnswer(
        _ stack: GatewayStack, _ action: DemoFault.Action = .loseAnswer
    ) async throws -> StackDevice {
        try await stack.backend.edit(.put("projects", ["id": "p-0", "name": "p"]))
        var device = try await stack.device()
        try await device.sync()
        try device.model.create("tasks", id: "x", ["name": "mine", "project_id": "p-0"])
        stack.backend.inject(DemoFault("POST", "/tasks", action: action))
        do {
            try await device.push()
            Issue.record("the push was answered with success")
        } catch StackDevice.Failure.push(let answer) {
            #expect(answer.outcome == "502 push.unknown_outcome")
        }
        let open = try await stack.openJournals()
        #expect(open.count == 1 && open[0].inFlight.map(\.makesID) == [true])
        return device
    }

    @Test(arguments: Means.allCases)
    func `finding 19: the next pull finds out which id a creation has got`(_ means: Means) async throws {
        try await GatewayStack.with(try Self.options(means)) { stack in
            let device = try await Self.createLosingAnswer(stack)
            let made = try await stack.backend.records()["tasks"] ?? [:]
            #expect(made.count == 1)
            let answer = try await device.pullLosingAnswer()
            #expect(answer.status == 200)
            // Asked, never made once more.
            #expect(try await stack.backend.records()["tasks"]?.count == 1)
            #expect(try await stack.openJournals().isEmpty)
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.state == .closed && journal.failure?.code == "push.unknown_outcome")
            let mapped = try await stack.store.read(journal.principal) {
                try IDRules.mapped(Set(made.keys), in: "tasks", of: &$0)
            }
            let warnings = stack.log.lines.filter { $0.metadata["code"] == "push.unknown_create" }
            if means == .nothing {
                #expect(mapped.isEmpty && journal.found == 0 && journal.lost == 1 && warnings.count == 1)
            } else {
                #expect(mapped == Set(made.keys) && journal.found == 1 && journal.lost == 0 && warnings.isEmpty)
            }
        }
    }

    @Test(arguments: [Means.key, .reference, .match])
    func `finding 19: a creation that has not happened leaves nothing but its journal`(_ means: Means) async throws {
        try await GatewayStack.with(try Self.options(means)) { stack in
            let device = try await Self.createLosingAnswer(stack, .status(500))
            #expect(try await device.pullLosingAnswer().status == 200)
            let made = try await stack.backend.records()["tasks"] ?? [:]
            // Under its key it is made now, since nobody can ask without asking for it; its id is known all the same.
            #expect(made.count == (means == .key ? 1 : 0))
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.found == (means == .key ? 1 : 0))
            #expect(
                try await stack.store.read(journal.principal) {
                    try IDRules.mapped(Set(made.keys), in: "tasks", of: &$0)
                } == Set(made.keys))
        }
    }

    @Test func `finding 19: while the backend cannot say what has happened, no pull goes on`() async throws {
        try await GatewayStack.with(try Self.options(.key)) { stack in
            let device = try await Self.createLosingAnswer(stack)
            stack.backend.inject(DemoFault("POST", "/tasks", action: .status(503)))
            #expect(try await device.pullLosingAnswer().outcome == "503 backend.busy")
            #expect(try await stack.openJournals().count == 1)
            #expect(try await device.pullLosingAnswer().status == 200)
            #expect(try await stack.openJournals().isEmpty)
            #expect(try await stack.backend.records()["tasks"]?.count == 1)
        }
    }

    @Test func `finding 19: an app that hangs up while its journal is closed loses no creation`() async throws {
        try await GatewayStack.with(try Self.options(.key)) { stack in
            let device = try await Self.createLosingAnswer(stack)
            stack.backend.inject(DemoFault("POST", "/tasks", action: .delay(2_000)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await device.pullLosingAnswer() }
                try await eventually { stack.backend.count("POST", "/tasks") == 2 }
                group.cancelAll()
            }
            #expect(try await device.pullLosingAnswer().status == 200)
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.state == .closed && journal.found == 1 && journal.lost == 0)
            #expect(try await stack.backend.records()["tasks"]?.count == 1)
        }
    }

    @Test(arguments: [403, 404, 410])
    func `finding 20: an address that is gone says nothing of a creation, and the stream is asked`(
        _ status: Int
    ) async throws {
        var options = try Self.options(.reference)
        options.overrides["push.idempotency_header"] = "Idempotency-Key"
        try await GatewayStack.with(options) { stack in
            let device = try await Self.createLosingAnswer(stack)
            stack.backend.inject(DemoFault("POST", "/tasks", action: .status(status)))
            #expect(try await device.pullLosingAnswer().status == 200)
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.found == 1 && journal.lost == 0)
        }
    }

    @Test func `finding 20: a creation that is sent again and still runs is neither refused nor in conflict`()
        async throws
    {
        try await GatewayStack.with(try Self.options(.key, ["push.retry_budget": "5s"])) { stack in
            var device = try await stack.device()
            try await device.sync()
            try device.model.create("tasks", id: "x", ["name": "mine"])
            for action in [DemoFault.Action.loseAnswer, .status(409)] {
                stack.backend.inject(DemoFault("POST", "/tasks", action: action))
            }
            try await device.push()
            #expect(try await stack.backend.records()["tasks"]?.count == 1)
            #expect(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).isEmpty)
        }
    }

    @Test(arguments: [(DemoFault.Action.status(404), "502 push.unknown_outcome"), (.status(422), "422 push.rejected")])
    func `finding 20: what a repetition does not tell keeps its journal open`(
        _ second: (action: DemoFault.Action, outcome: String)
    ) async throws {
        try await GatewayStack.with(try Self.options(.key, ["push.retry_budget": "5s"])) { stack in
            var device = try await stack.device()
            try await device.sync()
            try device.model.create("tasks", id: "x", ["name": "mine"])
            for action in [DemoFault.Action.loseAnswer, second.action] {
                stack.backend.inject(DemoFault("POST", "/tasks", action: action))
            }
            #expect(try await device.pushLosingAnswer().outcome == second.outcome)
            #expect(try await stack.openJournals().count == (second.outcome.hasPrefix("502") ? 1 : 0))
        }
    }

    @Test func `a 409 without a meaning refuses a record whose id the backend makes`() async throws {
        try await GatewayStack.with(try Self.options(.key)) { stack in
            var device = try await stack.device()
            try await device.sync()
            try device.model.create("tasks", id: "x", ["name": "mine"])
            stack.backend.inject(DemoFault("POST", "/tasks", action: .status(409)))
            #expect(try await device.pushLosingAnswer().outcome == "422 push.rejected")
            #expect(try await stack.openJournals().isEmpty)
        }
    }

    @Test func `finding 20: the second look takes no record for a creation that the first took for another`()
        async throws
    {
        try await GatewayStack.with(try Self.options(.match)) { stack in
            try await stack.backend.edit(.put("projects", ["id": "p-0", "name": "p"]))
            var device = try await stack.device()
            try await device.sync()
            for (id, name) in [("x", "one"), ("y", "other")] {
                try device.model.create("tasks", id: id, ["name": .string(name), "project_id": "p-0"])
            }
            for action in [DemoFault.Action.loseAnswer, .status(500)] {
                stack.backend.inject(DemoFault("POST", "/tasks", action: action))
            }
            #expect(try await device.pushLosingAnswer().outcome == "502 push.unknown_outcome")
            let made = try #require(try await stack.backend.records()["tasks"]?.first)
            // It comes to look like the creation that never happened, before the second look.
            let looks = stack.backend.count("POST", "/sync/stream")
            for milliseconds in [0, 1_000] {
                stack.backend.inject(DemoFault(nil, "/sync/stream", action: .delay(milliseconds)))
            }
            let pulling = device
            async let pulled = pulling.pullLosingAnswer()
            try await eventually { stack.backend.count("POST", "/sync/stream") == looks + 2 }
            let name: DemoValue = made.value["name"] == "one" ? "other" : "one"
            try await stack.backend.edit(.put("tasks", ["id": .string(made.key), "name": name]))
            #expect(try await pulled.status == 200)
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.state == .closed && journal.found == 1 && journal.lost == 1)
        }
    }

    @Test func `finding 20: a key that the backend may have forgotten is not used again`() async throws {
        let clock = ManualClock()
        var options = try Self.options(.key, ["push.idempotency_life": "1h"])
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            let device = try await Self.createLosingAnswer(stack)
            clock.advance(byMilliseconds: 3_600_000)
            #expect(try await device.pullLosingAnswer().status == 200)
            #expect(stack.backend.count("POST", "/tasks") == 1)
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.found == 0 && journal.lost == 1)
        }
    }

    @Test func `finding 20: a repetition that meets the first request still running is made again`() async throws {
        try await GatewayStack.with(try Self.options(.key)) { stack in
            let device = try await Self.createLosingAnswer(stack)
            stack.backend.inject(DemoFault("POST", "/tasks", action: .status(409)))
            #expect(try await device.pullLosingAnswer().status == 503)
            #expect(try await stack.openJournals().count == 1)
            #expect(try await device.pullLosingAnswer().status == 200)
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.found == 1)
        }
    }

    @Test func `finding 19: a creation that alone is never answered does not hold up its device for ever`() async throws
    {
        let clock = ManualClock()
        var options = try Self.options(.key)
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            let device = try await Self.createLosingAnswer(stack)
            func fail() { stack.backend.inject(DemoFault("POST", "/tasks", action: .status(503))) }
            for pause in [0, 10_000, RecoveryPatience.milliseconds] {
                clock.advance(byMilliseconds: pause)
                fail()
                let answer = try await device.pullLosingAnswer()
                #expect(answer.status == (pause == RecoveryPatience.milliseconds ? 200 : 503))
            }
            var journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.state == .closed && journal.found == 0 && journal.lost == 1)
            #expect(stack.log.lines.count { $0.metadata["code"] == "push.unknown_create" } == 1)
            // The same record does not have the same patience again.
            stack.backend.inject(DemoFault("POST", "/tasks", action: .loseAnswer))
            _ = try await device.pushLosingAnswer()
            #expect(try await stack.openJournals().count == 1)
            fail()
            #expect(try await device.pullLosingAnswer().status == 200)
            journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.state == .closed && journal.lost == 1)
        }
    }

    @Test(arguments: [Means.reference, .match])
    func `finding 20: a record whose type is refused is looked for until that takes too long`(
        _ means: Means
    ) async throws {
        let clock = ManualClock()
        var options = try Self.options(means)
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            let device = try await Self.createLosingAnswer(stack)
            stack.backend.retirement = DemoRetirement(["TasksV1", "TasksV2"])
            for pause: Int64 in [0, 10_000] {
                clock.advance(byMilliseconds: pause)
                #expect(try await device.pullLosingAnswer().outcome == "502 backend.types")
                #expect(try await device.pushLosingAnswer().outcome == "502 backend.types")
                #expect(try await stack.openJournals().count == 1)
            }
            stack.backend.retirement = DemoRetirement()
            #expect(try await device.pullLosingAnswer().status == 200)
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.state == .closed && journal.found == 1 && journal.lost == 0)
            #expect(try await stack.backend.records()["tasks"]?.count == 1)
        }
        try await GatewayStack.with(options) { stack in
            let device = try await Self.createLosingAnswer(stack)
            stack.backend.retirement = DemoRetirement(["TasksV1", "TasksV2"])
            for pause in [0, 10_000, RecoveryPatience.milliseconds] {
                clock.advance(byMilliseconds: pause)
                let answer = try await device.pullLosingAnswer()
                #expect(answer.status == (pause == RecoveryPatience.milliseconds ? 200 : 502))
            }
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.state == .closed && journal.found == 0 && journal.lost == 1)
            #expect(stack.log.lines.count { $0.metadata["code"] == "push.unknown_create" } == 1)
        }
    }

    @Test func `finding 19: while the backend answers nothing at all no creation is given up`() async throws {
        let clock = ManualClock()
        var options = try Self.options(.key, ["identity.auth_ttl": "1h"])
        options.clock = ManualWallClock(clock)
        try await GatewayStack.with(options) { stack in
            let device = try await Self.createLosingAnswer(stack)
            stack.backend.inject(DemoFault("POST", "/tasks", times: 5, action: .status(503)))
            stack.backend.inject(DemoFault("GET", "/users/me", times: 5, action: .status(503)))
            for _ in 0..<5 {
                clock.advance(byMilliseconds: RecoveryPatience.milliseconds)
                #expect(try await device.pullLosingAnswer().status == 503)
            }
            #expect(try await stack.openJournals().count == 1)
            #expect(try await device.pullLosingAnswer().status == 200)
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.found == 1 && journal.lost == 0)
        }
    }

    @Test func `finding 19: a push closes what an earlier one has left open`() async throws {
        try await GatewayStack.with(try Self.options(.key)) { stack in
            _ = try await Self.createLosingAnswer(stack)
            let answer = try await stack.sendPush(nil, .changes("tags", created: [["id": "g", "label": "new"]]))
            #expect(answer.status == 200)
            #expect(try await stack.openJournals().isEmpty)
            #expect(try await stack.backend.records()["tasks"]?.count == 1)
        }
    }

    @Test func `finding 20: with a key a creation is repeated within its push, and happens once`() async throws {
        try await GatewayStack.with(try Self.options(.key, ["push.retry_budget": "5s"])) { stack in
            var device = try await stack.device()
            try await device.sync()
            for number in 0..<12 { try device.model.create("tasks", ["name": .string("t \(number)")]) }
            for action in [DemoFault.Action.loseAnswer, .status(500), .loseAnswer, .status(503)] {
                stack.backend.inject(DemoFault("POST", "/tasks", action: action))
            }
            try await device.push()
            #expect(!device.model.hasUnsyncedChanges)
            #expect(try await stack.backend.records()["tasks"]?.count == 12)
            #expect(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).isEmpty)
        }
    }

    /// A gateway that is killed behind its call, and what the one after it makes of that.
    @Test(.enabled(if: GatewayProcess.isBuilt, "the program rind is not built"), arguments: [Means.key, .reference])
    func `finding 19: a gateway that is killed behind its call doubles nothing`(_ means: Means) async throws {
        let options = try Self.options(means)
        try await GatewayStack.withBackend(options) { backend, directory in
            try await backend.edit(.put("projects", ["id": "p-0", "name": "p"]))
            let url = try await backend.url
            func start() async throws -> GatewayProcess {
                try await GatewayProcess.start(
                    backend: url, directory: directory, overrides: options.overrides,
                    configuration: options.configuration)
            }
            var gateway = try await start()
            var device = StackDevice(
                model: ClientModel(schema: .quickstart, version: 3, seed: 1), token: "device-a", shape: .docs,
                http: gateway.http)
            try await device.sync()
            try device.model.create("tasks", id: "x", ["name": "mine", "project_id": "p-0"])
            backend.inject(DemoFault("POST", "/tasks", action: .delay(300)))
            let pushing = device
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await pushing.pushLosingAnswer() }
                try? await eventually { backend.count("POST", "/tasks") == 1 }
                try? await gateway.kill()
            }
            try await eventually { try await backend.records()["tasks"]?.count == 1 }
            gateway = try await start()
            device.http = gateway.http
            #expect(try await device.pullLosingAnswer().status == 200)
            #expect(try await backend.records()["tasks"]?.count == 1)
            try await gateway.kill()
            let store = try await SQLiteStateStore.openShared(path: "\(directory)/state.db", for: .reading)
            let journal = try #require(try await store.inspection.journals(of: nil, after: 0, limit: 9).last)
            #expect(journal.state == .closed && journal.found == 1 && journal.failure == nil)
            await store.close()
        }
    }
}

/// Journals of pushes that run, and of ones of which a part was applied.
@Suite(.timeLimit(.minutes(5))) struct PushJournalTests {
    @Test func `a pull waits for a push that makes ids, and closes nothing of it`() async throws {
        try await GatewayStack.with(try JournalFindingTests.options(.key)) { stack in
            var device = try await stack.device()
            try await device.sync()
            try device.model.create("tasks", id: "x", ["name": "mine"])
            stack.backend.inject(DemoFault("POST", "/tasks", action: .delay(400)))
            let (pushing, pulling) = (device, try await stack.device(seed: 2))
            async let pushed = pushing.pushLosingAnswer()
            try await eventually { try await stack.openJournals().first?.inFlight.count == 1 }
            #expect(try await pulling.pullLosingAnswer().status == 200)
            #expect(try await stack.openJournals().isEmpty)
            #expect(try await pushed.status == 200)
            #expect(stack.backend.count("POST", "/tasks") == 1)
            #expect(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).isEmpty)
        }
    }

    @Test func `a pull goes on beside a push whose records keep their ids`() async throws {
        try await CallPushTests.started { stack, device in
            try device.model.create("tags", id: "n-1", ["label": "new"])
            stack.backend.inject(DemoFault("POST", "/tags", action: .delay(1_000)))
            let (pushing, pulling) = (device, try await stack.device(seed: 2))
            async let pushed = pushing.pushLosingAnswer()
            try await eventually { try await stack.openJournals().first?.inFlight.count == 1 }
            #expect(try await pulling.pullLosingAnswer().status == 200)
            #expect(try await stack.openJournals().count == 1)
            #expect(try await pushed.status == 200)
        }
    }

    @Test func `an interrupted push is reported to the app and to the operator, and the next sync converges`()
        async throws
    {
        try await CallPushTests.started { stack, device in
            for number in 1...3 { try device.model.create("tags", id: "n-\(number)", ["label": "new"]) }
            stack.backend.rejectedIDs = ["n-2"]
            do {
                try await device.sync()
                Issue.record("the push was answered with success")
            } catch StackDevice.Failure.push(let answer) {
                #expect(answer.outcome == "422 push.rejected")
                #expect(answer.text.contains("The server did not accept all of your changes"))
            }
            let journal = try #require(try await stack.store.inspection.journals(of: nil, after: 0, limit: 9).first)
            #expect(journal.state == .failed && journal.applied == 1 && journal.operations == 3)
            #expect(journal.failure?.code == "push.rejected")
            #expect(journal.failure?.record == PushedRecordKey(table: "tags", id: "n-2"))
            stack.backend.rejectedIDs = []
            for _ in 0..<2 { try await device.sync() }
            #expect(!device.model.hasUnsyncedChanges)
            try await stack.expectEqual(device)
        }
    }

    @Test func `an app that hangs up leaves no doubt about what was applied`() async throws {
        try await CallPushTests.started { stack, device in
            for number in 1...3 { try device.model.create("tags", id: "n-\(number)", ["label": "new"]) }
            stack.backend.inject(DemoFault("POST", "/tags", action: .delay(0)))
            stack.backend.inject(DemoFault("POST", "/tags", action: .delay(500)))
            let pushing = device
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await pushing.pushLosingAnswer() }
                try await eventually { stack.backend.count("POST", "/tags") == 2 }
                group.cancelAll()
            }
            // What the backend has done late may look like another user's, once.
            _ = try? await device.sync()
            for _ in 0..<2 { try await device.sync() }
            #expect(!device.model.hasUnsyncedChanges)
            #expect(try await stack.openJournals().isEmpty)
            try await stack.expectEqual(device)
        }
    }

    @Test func `with many calls at a time everything arrives once, parents before children`() async throws {
        let overrides = ["push.parallel": "8", "pull.repeat_window": "0s"]
        try await GatewayStack.with(try StackOptions.pushingByCalls(overrides)) { stack in
            var device = try await stack.device()
            try await device.sync()
            for number in 0..<300 {
                try device.model.create("projects", id: "p-\(number)", ["name": "p"])
                try device.model.create(
                    "tasks", id: "t-\(number)", ["name": "t", "project_id": .string("p-\(number)")])
            }
            for number in 0..<10 {
                stack.backend.inject(
                    DemoFault("POST", number % 2 == 0 ? "/projects" : "/tasks", action: .status(429, retryAfter: 0)))
            }
            try await device.sync()
            #expect(!device.model.hasUnsyncedChanges)
            #expect(stack.backend.count("POST", "/projects") == 305 && stack.backend.count("POST", "/tasks") == 305)
            try await device.sync()
            try await stack.expectEqual(device)
        }
    }
}

/// For how long a request is made again that alone is not answered.
private enum RecoveryPatience {
    static let milliseconds: Int64 = 300_000
}

extension GatewayStack {
    /// The open journals of the only principal.
    func openJournals() async throws -> [(journal: PushJournal, inFlight: [InFlightOperation])] {
        guard let replica = try await store.inspection.replicas(of: nil, after: nil, limit: 1).first else { return [] }
        return try await store.read(replica.principal) { try JournalRules.openJournals(of: &$0) }
    }
}
