// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import GatewayServer
import Gzip
import NIOCore
import SyncModel
import Testing
import WatermelonWire

private let body = #"{"changes":{"tasks":{"created":[{"id":"a"}],"updated":[],"deleted":[]}}}"#

@Suite(.timeLimit(.minutes(1))) struct PushTests {
    private func post(_ fields: String = "", _ body: String = body) -> String {
        "POST /sync HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test func `a client that hangs up does not interrupt its push`() async throws {
        let started = Gate()
        let hungUp = Gate()
        let finished = Gate()
        let service = StubService(onPush: { _, _ in
            started.open()
            try await hungUp.wait()
            // Long enough for the end of the connection to arrive.
            try await Task.sleep(for: .milliseconds(100))
            finished.open()
            return StubPush()
        })
        var limits = ServerLimits()
        limits.timeouts.halfClosed = .milliseconds(1)
        try await Support.withServer(service, limits: limits) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(post())
                try await started.wait()
                try await client.close()
                hungUp.open()
                try await finished.wait()
            }
        }
    }

    @Test func `a compressed body is a push like any other`() async throws {
        let service = StubService(onPush: { request, _ in
            StubPush(body: Array("\(request.changes.tables.map(\.name))".utf8))
        })
        try await Support.withServer(service) { port in
            try await RawClient.connect(to: port) { client in
                let compressed = try Deflater.compress(ByteBuffer(string: body))
                try await client.send(
                    "POST /sync HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: \(compressed.readableBytes)\r\n\r\n"
                )
                try await client.send(compressed)
                #expect(try await client.readAnswer().body == #"["tasks"]"#)
            }
            #expect(try await RawClient.exchange(port, post()).body == #"["tasks"]"#)
        }
    }

    @Test func `an unknown compression is refused with those that work`() async throws {
        try await Support.withServer { port in
            let answer = try await RawClient.exchange(port, post("Content-Encoding: br\r\n"))
            #expect(answer.status == 415 && answer.field("Accept-Encoding") == "gzip, deflate")
            #expect(answer.field("Rind-Error") == "request.encoding")
        }
    }

    @Test func `a body beyond the limit is refused, and the answer arrives`() async throws {
        var configuration = Support.configuration()
        configuration.limits.body = 1_000
        try await Support.withServer(StubService(), configuration) { port in
            let big = String(repeating: " ", count: 400_000)
            let announced = try await RawClient.exchange(port, post("", big))
            #expect(announced.status == 413 && announced.field("Connection") == "close")
            let chunked = try await RawClient.exchange(
                port,
                "POST /sync HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n186A0\r\n\(big.prefix(100_000))\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            )
            #expect(chunked.status == 413 && chunked.rest.hasSuffix("ok\n"))
        }
    }

    @Test func `a push waits for no memory: it is answered 503 while others have it, and taken later`() async throws {
        let (started, finish) = (Gate(), Gate())
        let service = StubService(onPush: { request, _ in
            if request.lastPulledAt == 1 {
                started.open()
                try await finish.wait()
            }
            return StubPush()
        })
        // Room for one record's push and a half.
        let configuration = Support.changed {
            $0.limits.pushMemory = 3 * (body.utf8.count + ByteBudget.bytesPerRecord) / 2
        }
        @Sendable func post(since time: Int) -> String {
            self.post().replacing("POST /sync", with: "POST /sync?last_pulled_at=\(time)")
        }
        try await Support.withServer(service, configuration) { port in
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await RawClient.exchange(port, post(since: 1)).status }
                try await started.wait()
                let busy = try await RawClient.exchange(port, post(since: 2))
                #expect(busy.status == 503 && busy.field("Rind-Error") == "limit.bodies")
                #expect(busy.field("Retry-After") != nil)
                finish.open()
                #expect(try await group.next() == 200)
            }
            #expect(try await RawClient.exchange(port, post(since: 2)).status == 200)
        }
    }

    @Test func `half-sent bodies of strangers hold nothing of the memory for pushes`() async throws {
        // The backend has not said yet who they are.
        let service = StubService(onAdmit: { _ in try await Task.sleep(for: .seconds(60)) })
        let configuration = Support.changed { $0.limits.pushMemory = 256 << 10 }
        try await Support.withServer(service, configuration) { port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (sent, announce) = AsyncStream.makeStream(of: Void.self)
                for _ in 0..<8 {
                    group.addTask {
                        try await RawClient.connect(to: port) { client in
                            let compressed = try Deflater.compress(ByteBuffer(repeating: 32, count: 1 << 20))
                            let length = compressed.readableBytes + 1
                            try await client.send(
                                "POST /sync HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n"
                                    + "Content-Length: \(length)\r\n\r\n")
                            try await client.send(compressed)
                            announce.yield()
                            _ = try await client.readToEnd()
                        }
                    }
                }
                var count = 0
                for await _ in sent {
                    count += 1
                    if count == 8 { break }
                }
                for _ in 0..<20 {
                    let status = try await RawClient.exchange(port, post()).status
                    #expect(status == 200)
                }
                group.cancelAll()
                while let result = await group.nextResult() { _ = result }
            }
        }
    }

    @Test func `a large body is refused before it comes where its sender is not accepted`() async throws {
        let service = StubService(onAdmit: { _ in
            throw GatewayError(status: 401, code: "request.not_signed_in", message: "")
        })
        try await Support.withServer(service) { port in
            for framing in [
                "Content-Length: 1000000\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n186A0\r\n\(String(repeating: " ", count: 100_000))",
            ] {
                try await RawClient.connect(to: port) { client in
                    try await client.send("POST /sync HTTP/1.1\r\nHost: a\r\n" + framing)
                    #expect(try await client.readAnswer().status == 401)
                }
            }
        }
    }

    @Test func `a body that takes longer than its time is refused, however steady it comes`() async throws {
        let configuration = Support.changed { $0.limits.bodyTime = .milliseconds(200) }
        try await Support.withServer(StubService(), configuration) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("POST /sync HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n{")
                let answer = try await client.readAnswer(dripping: String(repeating: " ", count: 50))
                #expect(answer.status == 408)
            }
        }
    }

    @Test func `a push whose records alone take more than all memory for pushes is refused for good`() async throws {
        let configuration = Support.changed { $0.limits.pushMemory = 20 * ByteBudget.bytesPerRecord }
        let deleted = (0..<21).map { "\"\($0)\"" }.joined(separator: ",")
        let large = #"{"changes":{"tasks":{"created":[],"updated":[],"deleted":[\#(deleted)]}}}"#
        try await Support.withServer(StubService(), configuration) { port in
            let answer = try await RawClient.exchange(port, post("", large))
            #expect(answer.status == 413 && answer.field("Rind-Error") == "request.body_too_large")
            #expect(answer.field("Retry-After") == nil)
        }
    }

    @Test func `a push that another site may have sent is refused`() async throws {
        try await Support.withServer { port in
            let forged = try await RawClient.exchange(port, post("Cookie: s=1\r\nOrigin: https://evil.example\r\n"))
            #expect(forged.status == 403 && forged.field("Rind-Error") == "request.origin")
            #expect(try await RawClient.exchange(port, post("Cookie: s=1\r\nOrigin: http://a\r\n")).status == 200)
        }
    }

    @Test(arguments: [("HEAD", "/sync"), ("PUT", "/sync"), ("DELETE", "/sync/pull"), ("GET", "/sync/push")])
    func `another method is refused with those that work`(method: String, path: String) async throws {
        try await Support.withServer { port in
            let answer = try await RawClient.exchange(
                port, "\(method) \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answer.status == 405 && answer.field("Rind-Error") == "request.method")
            #expect(answer.field("Allow") == (path == "/sync/push" ? "POST, OPTIONS" : "GET, POST, OPTIONS"))
            #expect(answer.rest.isEmpty == (method == "HEAD"))
        }
    }
}
