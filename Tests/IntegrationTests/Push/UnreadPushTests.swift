// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Backends that say yes to what they have not read.
@Suite(.timeLimit(.minutes(5))) struct UnreadPushTests {
    private static let two = DemoValue.changes(
        "tags", created: [["id": "n-1", "label": "one"], ["id": "n-2", "label": "two"]])

    @Test(arguments: [(0, 2), (1, 1)], ["server", "request"])
    func `a push is not taken as long as a line has no result, and the log says how many have none`(
        results: (there: Int, missing: Int), checkpoints: String
    ) async throws {
        var options = StackOptions(["backend.resume_backoff": "2ms"])
        if checkpoints == "request" { options.configuration = try StackConfiguration.withRequestCheckpoints() }
        try await GatewayStack.with(options) { stack in
            let cursor = try PulledChanges(await stack.sendPull()).cursor
            let told = (0..<results.there).map { #"{"line":\#($0),"outcome":"ok"}"# }.joined(separator: ",")
            stack.backend.inject(
                DemoFault("POST", "/sync/push", times: .max, action: .success(body: #"{"results":[\#(told)]}"#)))
            let answer = try await stack.sendPush(cursor, Self.two)
            #expect(answer.outcome == "502 push.unknown_outcome" && answer["Retry-After"] != nil)
            let line = try #require(stack.logged("backend.results_missing").last)
            #expect(line.metadata["error"]?.contains("no result for \(results.missing) of its 2 lines") == true)

            // Nothing is taken for done: the same push goes out again, and is carried out.
            stack.backend.clearFaults()
            #expect(try await stack.sendPush(cursor, Self.two).status == 200)
            #expect(try await stack.backend.records()["tags"]?["n-2"]?["label"] == "two")
        }
    }

    @Test func `a device whose push was not read keeps its changes, and the next sync delivers them`() async throws {
        try await GatewayStack.with(StackOptions(["backend.resume_backoff": "2ms"])) { stack in
            var device = try await stack.device()
            try await device.sync()
            try device.model.create("tags", ["label": "new"])
            stack.backend.inject(DemoFault("POST", "/sync/push", times: 9, action: .success(body: #"{"results":[]}"#)))
            await #expect(throws: StackDevice.Failure.self) { try await device.sync() }
            #expect(device.model.hasUnsyncedChanges)
            stack.backend.clearFaults()
            try await device.sync()
            try await stack.expectEqual(device)
            #expect(try await stack.backend.records()["tags"]?.values.contains { $0["label"] == "new" } == true)
        }
    }

    @Test(arguments: [1, 300])
    func `a push states its length, whether its lines are kept or made twice`(records: Int) async throws {
        try await PushReceiptTests.started { stack, cursor in
            let label = DemoValue.string(String(repeating: "x", count: 5_000))
            let tags = (0..<records).map { DemoValue.object(["id": .string("n-\($0)"), "label": label]) }
            #expect(try await stack.sendPush(cursor, .changes("tags", created: tags)).status == 200)
            let request = try #require(stack.backend.requests.last { $0.path == "/sync/push" })
            #expect(request.headers["content-length"] == "\(request.body.utf8.count)")
            #expect(request.headers["transfer-encoding"] == nil)
            #expect(request.body.split(separator: "\n").count == records)
        }
    }
}
