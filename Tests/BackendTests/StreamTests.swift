// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import GatewayTesting
import Gzip
import HTTPTypes
import Logging
import NIOCore
import SyncModel
import Testing

@Suite struct StreamTests {
    static let lines = (0..<2000).map { #"{"type":"AlbumV1","data":{"id":"\#($0)"},"ack":"AlbumV1|\#($0)"}"# + "\n" }
    static let content = lines.joined()

    func open(_ backend: ScriptedBackend, _ vector: CheckpointVector = .init()) async throws -> BackendStream {
        try await backend.client.openStream(types: ["AlbumsV1", "AssetsV1"], vector: vector, caller)
    }

    @Test func `a stream is asked for with the types, the credential, and never with a reset`() async throws {
        try await ScriptedBackend.run(answer: Answer(body: Self.content)) { backend in
            let vector = CheckpointVector(["AlbumV1": "AlbumV1|1"])
            let stream = try await open(backend, vector)
            #expect(String(buffer: try await stream.collect()) == Self.content)
            let request = try #require(backend.requests.first)
            #expect(request.line == "POST /api/sync/stream HTTP/1.1")
            #expect(request.text == #"{"types":["AlbumsV1","AssetsV1"]}"#)
            #expect(request.field("authorization") == "Bearer secret-token")
            #expect(request.field("content-type") == "application/json")
            #expect(request.field("accept")?.hasPrefix("application/jsonlines+json") == true)
            #expect(request.field("accept-encoding") == "gzip")
        }
    }

    @Test func `in style request the tokens travel along, by namespace and as a list`() async throws {
        try await ScriptedBackend.run {
            $0.checkpoints = .request
            $0.stream.body = .object([
                .init(name: "since", value: .value("checkpoints")), .init(name: "acks", value: .value("acks")),
                .init(name: "types", value: .value("types")),
            ])
        } answer: { _, peer in
            try await peer.answer("")
        } _: { backend in
            _ = try await open(backend, CheckpointVector(["B": #"B|"2"#, "A": "A|1"])).collect()
            #expect(
                backend.requests.first?.text
                    == #"{"since":{"A":"A|1","B":"B|\"2"},"acks":["A|1","B|\"2"],"types":["AlbumsV1","AssetsV1"]}"#)
        }
    }

    @Test(arguments: ["", "Content-Encoding: identity", "Content-Encoding: gzip", "Content-Encoding: X-Gzip"])
    func `the lines come as they were, compressed or not`(field: String) async throws {
        let plain = ByteBuffer(string: Self.content)
        let body = field.lowercased().contains("gzip") ? try Deflater.compress(plain) : plain
        try await ScriptedBackend.run { _, peer in
            try await peer.write(
                "HTTP/1.1 200 OK\r\n\(field.isEmpty ? "" : field + "\r\n")Transfer-Encoding: chunked\r\n\r\n")
            var rest = body
            while let piece = rest.readSlice(length: min(1000, rest.readableBytes)), piece.readableBytes > 0 {
                try await peer.write("\(String(piece.readableBytes, radix: 16))\r\n")
                try await peer.write(piece)
                try await peer.write("\r\n")
            }
            try await peer.write("0\r\n\r\n")
        } _: { backend in
            let content = String(buffer: try await open(backend).collect())
            #expect(content == Self.content)
        }
    }

    struct Failure: Sendable, CustomTestStringConvertible {
        var answer: Answer
        var code: String
        var matches: @Sendable (BackendError) -> Bool = { _ in true }
        var testDescription: String { answer.testDescription }
    }

    @Test(arguments: [
        Failure(
            answer: Answer(status: "401 Unauthorized"), code: "backend.credential",
            matches: { if case .credentialRefused(401) = $0 { true } else { false } }),
        Failure(answer: Answer(status: "403 Forbidden"), code: "backend.credential"),
        Failure(
            answer: Answer(status: "400 Bad Request", body: #"{"message":["AssetsV1 is retired, use AssetsV2"]}"#),
            code: "backend.types",
            matches: { if case .typesRefused(["AssetsV1"]) = $0 { true } else { false } }),
        Failure(
            answer: Answer(status: "400 Bad Request", body: #"PartnerAssetsV1, AlbumsV12"#), code: "backend.refused"),
        Failure(
            answer: Answer(status: "429 Too Many Requests", fields: ["Retry-After: 17"]), code: "backend.busy",
            matches: { if case .busy(429, .seconds(17)) = $0 { !$0.isOutcomeUnknown && $0.isTransient } else { false } }
        ),
        Failure(
            answer: Answer(status: "503 Service Unavailable"), code: "backend.busy",
            matches: { if case .busy(503, nil) = $0 { $0.isTransient } else { false } }),
        Failure(
            answer: Answer(
                status: "503 Service Unavailable",
                fields: ["Date: Wed, 28 Feb 2024 23:59:50 GMT", "Retry-After: Thu, 29 Feb 2024 00:01:00 GMT"]),
            code: "backend.busy", matches: { if case .busy(503, .seconds(70)) = $0 { true } else { false } }),
        Failure(
            answer: Answer(
                status: "503 Service Unavailable",
                fields: ["Date: Sun, 31 Dec 2023 23:59:59 GMT", "Retry-After: Mon, 01 Jan 2024 00:00:01 GMT"]),
            code: "backend.busy", matches: { if case .busy(503, .seconds(2)) = $0 { true } else { false } }),
        Failure(
            answer: Answer(status: "503 Service Unavailable", fields: ["Retry-After: soon"]), code: "backend.busy",
            matches: { if case .busy(503, nil) = $0 { true } else { false } }),
        Failure(
            answer: Answer(status: "429 Too Many Requests", fields: ["Retry-After: 99999999999999999999"]),
            code: "backend.busy", matches: { if case .busy(429, .seconds(86_400)) = $0 { true } else { false } }),
        Failure(
            answer: Answer(status: "429 Too Many Requests", fields: ["Retry-After: 1.25"]), code: "backend.busy",
            matches: { if case .busy(429, .seconds(2)) = $0 { true } else { false } }),
        Failure(
            answer: Answer(status: "429 Too Many Requests", fields: ["Retry-After: 1.2.5"]), code: "backend.busy",
            matches: { if case .busy(429, nil) = $0 { true } else { false } }),
        // Without a `Date`, the machine's clock counts.
        Failure(
            answer: Answer(
                status: "503 Service Unavailable", fields: ["Retry-After: Mon, 01 Jan 2024 00:00:01 GMT"]),
            code: "backend.busy", matches: { if case .busy(503, .seconds(0)) = $0 { true } else { false } }),
        Failure(
            answer: Answer(
                status: "503 Service Unavailable", fields: ["Retry-After: Fri, 01 Jan 2999 00:00:01 GMT"]),
            code: "backend.busy", matches: { if case .busy(503, .seconds(86_400)) = $0 { true } else { false } }),
        Failure(answer: Answer(status: "404 Not Found"), code: "backend.refused"),
        Failure(answer: Answer(status: "500 Oh"), code: "backend.failed", matches: { $0.isTransient }),
        Failure(
            answer: Answer(status: "302 Found", fields: ["Location: http://127.0.0.1:1/"]), code: "backend.status"),
        Failure(
            answer: Answer(fields: ["Content-Type: text/html; charset=utf-8"], body: "<html>Log in</html>"),
            code: "backend.content_type"),
        Failure(answer: Answer(fields: ["Content-Type: image/png"]), code: "backend.content_type"),
        Failure(answer: Answer(fields: ["Content-Encoding: br"], body: "x"), code: "backend.encoding"),
        Failure(answer: Answer(fields: ["Content-Encoding: gzip, gzip"], body: "x"), code: "backend.encoding"),
    ])
    func `an answer that is no stream is a clear error`(failure: Failure) async throws {
        try await ScriptedBackend.run(answer: failure.answer) { backend in
            let error = await #expect(throws: BackendError.self) { try await open(backend) }
            let thrown = try #require(error)
            #expect(thrown.code == failure.code)
            #expect(failure.matches(thrown), "\(thrown)")
            #expect(!thrown.description.contains("Log in"))
        }
    }

    @Test(arguments: [
        "application/jsonlines+json", "application/x-ndjson; charset=utf-8", "application/json",
        "application/vnd.api+json", "text/plain;charset=utf-8", "application/octet-stream", "",
    ])
    func `lines of JSON are taken under any name that backends give them`(type: String) async throws {
        let fields = type.isEmpty ? [] : ["Content-Type: \(type)"]
        try await ScriptedBackend.run(answer: Answer(fields: fields, body: "{}\n")) { backend in
            let content = String(buffer: try await open(backend).collect())
            #expect(content == "{}\n")
        }
    }

    @Test func `an error's body is logged at debug, cut, and the credential never`() async throws {
        let body = "the backend's secrets " + String(repeating: "x", count: 10_000)
        try await ScriptedBackend.run(answer: Answer(status: "500 Oh", body: body)) { backend in
            let error = await #expect(throws: BackendError.self) { try await open(backend) }
            #expect(error.map { "\($0)".contains("secrets") } == false)
            let entry = try #require(backend.log.entries.first { $0.text.contains("secrets") })
            #expect(entry.level == .debug)
            #expect(entry.text.utf8.count < 2200)
            #expect(!backend.log.entries.contains { $0.text.contains("secret-token") })
            #expect(!"\(caller)".contains("secret") && !String(reflecting: caller).contains("secret"))
            var dumped = ""
            dump(caller, to: &dumped)
            #expect(!dumped.contains("secret"))
        }
    }

    @Test func `an error's body that never ends does not hold the error back`() async throws {
        try await ScriptedBackend.run {
            $0.errorBodyTimeout = .milliseconds(200)
        } answer: { _, peer in
            try await peer.write("HTTP/1.1 500 Oh\r\n\r\nthe beginning")
            await peer.waitForEnd()
        } _: { backend in
            let error = await #expect(throws: BackendError.self) { try await open(backend) }
            #expect(error?.code == "backend.failed")
            #expect(backend.log.entries.contains { $0.text.contains("the beginning") })
        }
    }

    @Test func `a bomb is refused long before it is unpacked`() async throws {
        let bomb = try Deflater.compress(ByteBuffer(repeating: 32, count: 64 << 20))
        try await ScriptedBackend.run {
            $0.maximumStreamBytes = 1 << 20
        } answer: { _, peer in
            try await peer.write(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.readableBytes)\r\n\r\n")
            try await peer.write(bomb)
        } _: { backend in
            var total = 0
            let error = await #expect(throws: BackendError.self) {
                for try await chunk in try await open(backend) { total += chunk.readableBytes }
            }
            #expect(error?.code == "backend.answer_too_large")
            #expect(total <= 1 << 20)
        }
    }

    @Test func `a plain stream has the same limit`() async throws {
        try await ScriptedBackend.run {
            $0.maximumStreamBytes = 100
        } answer: { _, peer in
            try await peer.answer(String(repeating: "x", count: 101))
        } _: { backend in
            let error = await #expect(throws: BackendError.self) { try await open(backend).collect() }
            #expect(error?.code == "backend.answer_too_large")
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}\n", "backend.closed"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n", "backend.closed"),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!", "backend.encoding"),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\u{1f}", "backend.closed"),
    ])
    func `a stream that breaks never ends cleanly`(bytes: String, code: String) async throws {
        try await ScriptedBackend.run { _, peer in
            try await peer.write(bytes)
            throw CancellationError()
        } _: { backend in
            let stream = try await open(backend)
            let error = await #expect(throws: BackendError.self) { try await stream.collect() }
            #expect(error?.code == code)
        }
    }

    @Test func `a compressed stream that is cut inside whole HTTP is an interruption`() async throws {
        let whole = try Deflater.compress(ByteBuffer(string: Self.content))
        let body = try #require(whole.getSlice(at: 0, length: whole.readableBytes - 4))
        try await ScriptedBackend.run { _, peer in
            try await peer.write(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.readableBytes)\r\n\r\n")
            try await peer.write(body)
        } _: { backend in
            let error = await #expect(throws: BackendError.self) { try await open(backend).collect() }
            #expect(error?.code == "backend.closed")
        }
    }

    @Test func `a stream that falls silent is given up`() async throws {
        try await ScriptedBackend.run {
            $0.streamTimeouts = CurlTimeouts(idle: .milliseconds(200))
        } answer: { _, peer in
            try await peer.write("HTTP/1.1 200 OK\r\n\r\n{}\n")
            await peer.waitForEnd()
        } _: { backend in
            var iterator = try await open(backend).makeAsyncIterator()
            #expect(try await iterator.next() == ByteBuffer(string: "{}\n"))
            let error = await #expect(throws: BackendError.self) { try await iterator.next() }
            #expect(error?.code == "backend.timeout.idle")
            #expect(error?.isTransient == true)
        }
    }

    @Test func `no types are no question`() async throws {
        try await ScriptedBackend.run(answer: Answer()) { backend in
            let error = await #expect(throws: BackendError.self) {
                try await backend.client.openStream(types: [], vector: .init(), caller)
            }
            #expect(error?.code == "backend.call")
            #expect(backend.requests.isEmpty)
        }
    }
}
