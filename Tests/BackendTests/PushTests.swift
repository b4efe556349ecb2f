// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import GatewayTesting
import JSONBytes
import NIOCore
import SyncModel
import Testing

@Suite struct PushTests {
    static let operations = [
        StreamPushOperation(
            .create, table: "tasks", id: "t1", key: [.init("id", .string("t1"))], data: Array(#"{"name":"A"}"#.utf8)),
        StreamPushOperation(
            .update, table: "album_assets", id: "a.b", key: [.init("albumId", .string("a")), .init("n", .integer(1))],
            data: Array("{\"x\":\r\n1}".utf8), base: "AlbumV1|7"),
        StreamPushOperation(.delete, table: "ta\"sks", id: "t2", key: [.init("id", .string("t2"))]),
    ]
    static let lines =
        #"{"op":"create","table":"tasks","id":"t1","key":{"id":"t1"},"data":{"name":"A"}}"# + "\n"
        + #"{"op":"update","table":"album_assets","id":"a.b","key":{"albumId":"a","n":1},"data":{"x":  1},"#
        + #""base":"AlbumV1|7"}"# + "\n" + #"{"op":"delete","table":"ta\"sks","id":"t2","key":{"id":"t2"}}"# + "\n"

    static var bytes: ByteBuffer {
        var buffer = ByteBuffer()
        for operation in operations { operation.append(to: &buffer) }
        return buffer
    }

    @Test func `each operation is one line of JSON`() throws {
        #expect(String(buffer: Self.bytes) == Self.lines)
        for line in Self.lines.split(separator: "\n") { _ = try JSONValue.parse(String(line)) }
    }

    @Test(arguments: [false, true])
    func `a push is one request under its key`(isStreamed: Bool) async throws {
        let body = #"""
            {"results":[{"line":1,"outcome":"ok","id":1.7e1},{"line":0,"outcome":"ok","id":"backend-1"},
            {"line":2,"outcome":"ok"}]}
            """#
        try await ScriptedBackend.run(answer: Answer(body: body)) { backend in
            let result: StreamPushResult
            if isStreamed {
                let pieces = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
                    var rest = Self.bytes
                    while let piece = rest.readSlice(length: min(7, rest.readableBytes)), piece.readableBytes > 0 {
                        continuation.yield(piece)
                    }
                    continuation.finish()
                }
                result = try await backend.client.pushStream(
                    .sequence(pieces, length: nil), count: 3, key: "key-1", caller)
            } else {
                result = try await backend.client.pushStream(.bytes(Self.bytes), count: 3, key: "key-1", caller)
            }
            #expect(
                result
                    == .applied([
                        .init(line: 1, outcome: .ok, id: "17"), .init(line: 0, outcome: .ok, id: "backend-1"),
                        .init(line: 2, outcome: .ok),
                    ]))
            let request = try #require(backend.requests.first)
            #expect(backend.requests.count == 1)
            #expect(request.line == "POST /api/sync/push HTTP/1.1")
            #expect(request.text == Self.lines)
            #expect(request.field("content-type") == "application/jsonlines+json")
            #expect(request.field("idempotency-key") == "key-1")
            #expect(request.field("authorization") == "Bearer secret-token")
        }
    }

    @Test(arguments: ["409 Conflict", "422 No"])
    func `a refusal names its lines, and nothing was applied`(status: String) async throws {
        let body = #"""
            {"results":[{"line":0,"outcome":"ok"},{"line":1,"table":"tasks","id":7,"outcome":"conflict","message":"m"},
            {"line":2,"outcome":"rejected","message":"\#(String(repeating: "x", count: 5000))"}]}
            """#
        try await ScriptedBackend.run(answer: Answer(status: status, body: body)) { backend in
            let result = try await backend.client.pushStream(.bytes(Self.bytes), count: 3, key: "k", caller)
            let cut = String(repeating: "x", count: 200) + "…"
            #expect(
                result
                    == .refused([
                        .init(line: 1, outcome: .conflict, id: "7", table: "tasks", message: "m"),
                        .init(line: 2, outcome: .rejected, message: cut),
                    ]))
        }
    }

    struct Unclear: Sendable, CustomTestStringConvertible {
        var answer: Answer
        var code: String
        var isUnknown = true
        var testDescription: String { answer.testDescription }
    }

    @Test(arguments: [
        Unclear(answer: Answer(body: ""), code: "backend.answer"),
        Unclear(answer: Answer(body: "[]"), code: "backend.answer"),
        Unclear(answer: Answer(body: #"{"results":{}}"#), code: "backend.answer"),
        Unclear(answer: Answer(body: #"{"results":[{"line":3,"outcome":"ok"}]}"#), code: "backend.answer"),
        Unclear(answer: Answer(body: #"{"results":[{"line":-1,"outcome":"ok"}]}"#), code: "backend.answer"),
        Unclear(answer: Answer(body: #"{"results":[{"line":0,"outcome":"fine"}]}"#), code: "backend.answer"),
        Unclear(
            answer: Answer(body: #"{"results":[{"line":0,"outcome":"ok"},{"line":0,"outcome":"ok"}]}"#),
            code: "backend.answer"),
        Unclear(answer: Answer(body: #"{"results":[{"line":0,"outcome":"conflict"}]}"#), code: "backend.answer"),
        Unclear(answer: Answer(body: #"{"results":[]}"#), code: "backend.results_missing"),
        Unclear(
            answer: Answer(body: #"{"results":[{"line":2,"outcome":"ok"},{"line":0,"outcome":"ok"}]}"#),
            code: "backend.results_missing"),
        Unclear(
            answer: Answer(status: "409 Conflict", body: #"{"results":[{"line":0,"outcome":"ok"}]}"#),
            code: "backend.answer"),
        Unclear(answer: Answer(status: "409 Conflict", body: "<html>"), code: "backend.answer"),
        Unclear(answer: Answer(status: "202 Accepted"), code: "backend.status"),
        Unclear(answer: Answer(status: "500 Oh"), code: "backend.failed"),
        Unclear(answer: Answer(status: "503 Oh"), code: "backend.busy"),
        Unclear(answer: Answer(status: "401 No"), code: "backend.credential", isUnknown: false),
        Unclear(answer: Answer(status: "413 No"), code: "backend.refused", isUnknown: false),
    ])
    func `an answer that is neither yes nor no leaves the push unknown`(unclear: Unclear) async throws {
        try await ScriptedBackend.run(answer: unclear.answer) { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.pushStream(.bytes(Self.bytes), count: 3, key: "k", caller)
            }
            #expect(error?.code == unclear.code)
            #expect(error?.isOutcomeUnknown == unclear.isUnknown)
        }
    }

    @Test func `a lost answer leaves the push unknown, and the key lets it be asked again`() async throws {
        try await ScriptedBackend.run { request, peer in
            // Applied, and the answer is lost, until the key is seen again on another connection.
            if peer.number == 1 { throw CancellationError() }
            try await peer.answer(#"{"results":[{"line":0,"outcome":"ok"}]}"#)
        } _: { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.pushStream(.bytes(Self.bytes), count: 1, key: "same", caller)
            }
            #expect(error?.code == "backend.closed")
            #expect(error?.isOutcomeUnknown == true)
            let again = try await backend.client.pushStream(.bytes(Self.bytes), count: 1, key: "same", caller)
            #expect(again == .applied([.init(line: 0, outcome: .ok)]))
            #expect(backend.requests.map { $0.field("idempotency-key") } == ["same", "same"])
        }
    }

    @Test func `a source that fails ends the push with its error`() async throws {
        struct Broken: Error {}
        try await ScriptedBackend.run(answer: Answer()) { backend in
            let pieces = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
                continuation.yield(ByteBuffer(string: "{}\n"))
                continuation.finish(throwing: Broken())
            }
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.pushStream(.sequence(pieces, length: nil), count: 1, key: "k", caller)
            }
            #expect(error?.code == "backend.upload")
            // The body was never finished, so the backend has no whole request.
            #expect(backend.requests.isEmpty)
        }
    }

    @Test func `an answer without end is cut off at the limit`() async throws {
        try await ScriptedBackend.run {
            $0.maximumPushAnswerBytes = 1000
        } answer: { _, peer in
            try await peer.answer(#"{"results":["# + String(repeating: " ", count: 2000))
        } _: { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.pushStream(.bytes(Self.bytes), count: 3, key: "k", caller)
            }
            #expect(error?.code == "backend.answer_too_large")
            #expect(error?.isOutcomeUnknown == true)
        }
    }

    @Test(arguments: ["", "a b", "a\r\nX: 1", "\u{e4}", String(repeating: "k", count: 256)])
    func `a key that is none is refused before anything is sent`(key: String) async throws {
        try await ScriptedBackend.run(answer: Answer()) { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.pushStream(.bytes(Self.bytes), count: 3, key: key, caller)
            }
            #expect(error?.code == "backend.call")
            #expect(backend.requests.isEmpty)
        }
    }
}
