// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

@Suite struct FaultTests {
    static let body = #"{"types":["TagsV1"]}"#

    /// Ten tags `g0` to `g9` and a client.
    static func withTags(_ test: (DemoBackend, TestClient) async throws -> Void) async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit((0..<10).map { .put("tags", ["id": .string("g\($0)"), "label": "a label"]) })
            try await test(backend, try await TestClient(backend))
        }
    }

    @Test(arguments: [401, 403, 429, 500, 503])
    func `a status takes the place of the next answers and then all is well`(status: Int) async throws {
        try await Self.withTags { backend, client async throws in
            backend.inject(DemoFault("POST", "/sync/stream", times: 2, action: .status(status, retryAfter: 7)))
            for _ in 0..<2 {
                let answer = try await client.send("POST", "/sync/stream", body: Self.body)
                #expect(answer.status == status)
                #expect(answer.headers["retry-after"] == "7")
            }
            #expect(try await client.stream("TagsV1").count == 11)
            #expect(backend.requests.map(\.status) == [status, status, 200])
        }
    }

    @Test func `faults wait for the request that they are for`() async throws {
        try await Self.withTags { backend, client async throws in
            backend.inject(DemoFault("GET", "/sync/ack", action: .status(500)))
            #expect(try await client.stream("TagsV1").count == 11)
            #expect(try await client.send("GET", "/sync/ack").status == 500)
            backend.inject(DemoFault(times: 5, action: .status(500)))
            backend.clearFaults()
            #expect(try await client.send("GET", "/sync/ack").status == 200)
        }
    }

    @Test func `a stream is cut after lines or bytes, without its end`() async throws {
        try await Self.withTags { backend, client async throws in
            backend.inject(.stream { $0.cutAfterLines = 4 })
            let lines = try await client.send("POST", "/sync/stream", body: Self.body)
            #expect(lines.lines.count == 4)
            #expect(!lines.isComplete)
            backend.inject(.stream { $0.cutAfterBytes = 250 })
            let bytes = try await client.send("POST", "/sync/stream", body: Self.body)
            #expect(bytes.body.count == 250)
            #expect(!bytes.isComplete)
        }
    }

    @Test func `a stream ends early in good order, with or without its complete line`() async throws {
        try await Self.withTags { backend, client async throws in
            backend.inject(.stream { $0.endAfterLines = 3 })
            #expect(try await client.stream("TagsV1").map(\.id) == ["g0", "g1", "g2"])
            backend.inject(.stream { $0.omitsComplete = true })
            #expect(try await client.stream("TagsV1").map(\.type) == Array(repeating: "TagV1", count: 10))
        }
    }

    @Test func `a stream stalls with the connection open until the client goes`() async throws {
        try await Self.withTags { backend, client async throws in
            backend.inject(.stream { $0.stallAfterLines = 2 })
            let answer = try await client.send("POST", "/sync/stream", body: Self.body, patience: 1000)
            #expect(answer.lines.count == 2)
            #expect(!answer.isComplete)
            #expect(try await client.stream("TagsV1").count == 11)
        }
    }

    @Test func `a dripping stream comes line by line`() async throws {
        try await Self.withTags { backend, client async throws in
            backend.inject(.stream { $0.delayPerLine = 20 })
            let clock = ContinuousClock()
            let start = clock.now
            #expect(try await client.stream("TagsV1").count == 11)
            #expect(clock.now - start >= .milliseconds(220))
        }
    }

    @Test func `an ack is applied although its answer is lost`() async throws {
        try await Self.withTags { backend, client async throws in
            let lines = try await client.stream("TagsV1")
            backend.inject(DemoFault("POST", "/sync/ack", action: .loseAnswer))
            await #expect(throws: TestClient.Unexpected.self) { try await client.ack([lines[4].ack]) }
            #expect(try await backend.checkpoints(token: "ada-token")["TagV1"] == lines[4].ack)
            #expect(backend.requests.last?.status == nil)
            #expect(backend.requests.last?.json?["acks"] == [.string(lines[4].ack)])
        }
    }

    @Test func `a request can be late`() async throws {
        try await Self.withTags { backend, client async throws in
            backend.inject(DemoFault("GET", "/sync/ack", action: .delay(150)))
            let clock = ContinuousClock()
            let start = clock.now
            #expect(try await client.send("GET", "/sync/ack").status == 200)
            #expect(clock.now - start >= .milliseconds(150))
        }
    }

    /// A malformation, and what the raw line, or the one before, then is.
    static let malformations: [(DemoFault.Malformation, @Sendable ([[UInt8]]) -> Bool)] = [
        (.invalidJSON, { DemoValue(parsing: $0[2]) == nil && $0.count == 11 }),
        (.invalidUTF8, { $0[2].contains(0xFF) && DemoValue(parsing: $0[2]) == nil && $0.count == 11 }),
        (.noID, { DemoValue(parsing: $0[2])?["data"] == ["label": "a label"] }),
        (.wrongTypes, { DemoValue(parsing: $0[2])?["data"]?["label"] == 12 }),
        (.notAnObject, { DemoValue(parsing: $0[2])?["data"] == "nothing" }),
        (.unknownTypeBefore, { DemoValue(parsing: $0[2])?["type"] == "MysteryV9" && $0.count == 12 }),
        (.garbageBefore, { $0[2].starts(with: "<html>".utf8) && $0.count == 12 }),
        (.blankBefore, { $0[2].isEmpty && $0.count == 12 }),
        (.duplicate, { $0[2] == $0[3] && $0.count == 12 }),
        (.overlong(300_000), { $0[2].count > 300_000 && DemoValue(parsing: $0[2]) != nil }),
        (.noAck, { DemoValue(parsing: $0[2]).map { $0["ack"] == nil } == true }),
    ]

    @Test(arguments: malformations.indices)
    func `a single line is malformed and the others are as ever`(index: Int) async throws {
        let (malformation, isAsExpected) = Self.malformations[index]
        try await Self.withTags { backend, client async throws in
            backend.inject(.stream { $0.malformed = [2: malformation] })
            let answer = try await client.send("POST", "/sync/stream", body: Self.body)
            let lines = answer.body.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map(Array.init)
            #expect(isAsExpected(lines), "\(malformation)")
            #expect(answer.isComplete)
            #expect(answer.lines.last?.type == "SyncCompleteV1")
            #expect(answer.lines.map(\.id).contains("g3"))
        }
    }

    @Test func `twelve abandoned streams do no harm to the next`() async throws {
        var configuration = DemoConfiguration()
        configuration.bulkRows = 100_000
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            for _ in 0..<12 {
                let answer = try await client.send(
                    "POST", "/sync/stream", body: #"{"types":["BulkTasksV1"]}"#, enough: 100_000)
                #expect(!answer.isComplete)
            }
            #expect(try await client.stream("TagsV1").count == 1)
        }
    }
}
