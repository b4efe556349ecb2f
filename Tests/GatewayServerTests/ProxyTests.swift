// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import GatewayServer
import NIOCore
import NIOHTTP1
import SyncModel
import Testing

@Suite(.timeLimit(.minutes(1))) struct ProxyTests {
    private func withProxy(
        _ base: Configuration = Support.configuration(), log: LogLines = LogLines(),
        _ script: @escaping @Sendable (ScriptedBackend.Peer) async throws -> Void,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await ScriptedBackend.run(script) { backendPort in
            var configuration = base
            configuration.backend.url = BaseURL(isTLS: false, host: "127.0.0.1", port: backendPort, path: "/api")
            try await Support.withServer(StubService(), configuration, log: log) { port in try await body(port) }
        }
    }

    @Test func `the target goes out as it came, below the backend's URL`() async throws {
        try await withProxy { peer in
            while let head = try await peer.head() {
                let text = "\(head.method.rawValue) \(head.uri)"
                try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
            }
        } _: { port in
            for target in ["/", "/a%20b/%C3%BC?x=%2F&&y", "/a//b;v=1", "/a?", "/users/1?next=http://x/../y", "/'()*!$"]
            {
                let answer = try await RawClient.exchange(
                    port, "GET \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                #expect(answer.body == "GET /api\(target)")
            }
        }
    }

    @Test func `fields and bodies pass both ways untouched`() async throws {
        try await withProxy { peer in
            while let head = try await peer.head() {
                let names = [
                    "range", "accept-encoding", "x-hop", "connection", "x-forwarded-host", "transfer-encoding",
                ]
                let seen = names.map { "\($0)=\(head.headers[$0].joined(separator: "+"))" }.joined(separator: ";")
                let text = seen + "|" + (try await peer.body())
                try await peer.send(
                    "HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\nContent-Range: bytes 0-1/9\r\nContent-Encoding: br\r\n"
                        + "Connection: X-Gone\r\nX-Gone: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
                        + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
            }
        } _: { port in
            let answer = try await RawClient.exchange(
                port,
                "POST /media HTTP/1.1\r\nHost: h.example\r\nRange: bytes=0-1\r\nAccept-Encoding: br\r\nX-Hop: 1\r\n"
                    + "Connection: close, X-Hop\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
            )
            #expect(answer.status == 206 && answer.field("ETag") == "\"e\"" && answer.field("Content-Encoding") == "br")
            #expect(answer.field("Content-Range") == "bytes 0-1/9" && answer.field("X-Gone") == nil)
            #expect(answer.fields("Set-Cookie") == ["a=1", "b=2"] && answer.field("Via") == "1.1 rind")
            #expect(
                answer.body == "range=bytes=0-1;accept-encoding=br;x-hop=;connection=;x-forwarded-host=h.example;"
                    + "transfer-encoding=chunked|hello world")
        }
    }

    @Test func `answers without bodies keep their fields and the connection goes on`() async throws {
        try await withProxy { peer in
            while let head = try await peer.head() {
                switch head.uri {
                case "/api/head": try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nETag: \"h\"\r\n\r\n")
                case "/api/same": try await peer.send("HTTP/1.1 304 Not Modified\r\nETag: \"s\"\r\n\r\n")
                case "/api/early":
                    try await peer.send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
                default:
                    try await peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
                }
            }
        } _: { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("HEAD /head HTTP/1.1\r\nHost: h\r\n\r\nHEAD /chunked HTTP/1.1\r\nHost: h\r\n\r\n")
                let head = try RawAnswer(try await client.read(through: "\r\n\r\n"))
                #expect(head.status == 200 && head.field("Content-Length") == "12345" && head.field("ETag") == "\"h\"")
                #expect(try RawAnswer(try await client.read(through: "\r\n\r\n")).status == 200)
                try await client.send("GET /same HTTP/1.1\r\nHost: h\r\nIf-None-Match: \"s\"\r\n\r\n")
                let same = try await client.readAnswer()
                #expect(same.status == 304 && same.field("ETag") == "\"s\"")
                try await client.send("GET /early HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await client.readAnswer().status == 204)
                try await client.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await client.read(through: "0\r\n\r\n").hasSuffix("2\r\nok\r\n0\r\n\r\n"))
            }
        }
    }

    @Test func `bodies are streamed, not collected`() async throws {
        let firstSeen = Gate()
        let goOn = Gate()
        try await withProxy { peer in
            _ = try await peer.head()
            guard try await peer.piece() != nil else { return }
            firstSeen.open()
            _ = try await peer.body()
            try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
            try await goOn.wait()
            try await peer.send("cd")
            await peer.waitForEnd()
        } _: { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("PUT /media HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab")
                try await firstSeen.wait()
                try await client.send("cd")
                // Not only "ab": the id of the request may have that, too.
                _ = try await client.read(through: "\r\n\r\nab")
                goOn.open()
                #expect(try await client.read(through: "cd") == "cd")
            }
        }
    }

    @Test func `much passes both ways while nobody has to hold it`() async throws {
        let size = 8 << 20
        try await withProxy { peer in
            guard let head = try await peer.head(), let length = head.headers["content-length"].first else { return }
            var count = 0
            while let piece = try await peer.piece() { count += piece.readableBytes }
            try await peer.send("HTTP/1.1 200 OK\r\nX-Count: \(count)\r\nContent-Length: \(length)\r\n\r\n")
            let chunk = ByteBuffer(repeating: 0x61, count: 1 << 20)
            for _ in 0..<8 { try await peer.send(chunk) }
            await peer.waitForEnd()
        } _: { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(
                    "PUT /media HTTP/1.1\r\nHost: h\r\nContent-Length: \(size)\r\nConnection: close\r\n\r\n")
                for _ in 0..<8 { try await client.send(ByteBuffer(repeating: 0x62, count: 1 << 20)) }
                let answer = try RawAnswer(try await client.readToEnd())
                #expect(answer.field("X-Count") == "\(size)" && answer.rest.utf8.count == size)
            }
        }
    }

    @Test(arguments: [
        "/sync/stream", "/%73ync/ack", "/sync//ack", "/a/../sync/ack", "/secret/x", "/a/%2e%2e/b", "/a%2fb", "/a/..",
        "/secret.json", "/secret%20/x", "/%c1%b3ecret", "/a/%c0%afb",
    ])
    func `the backend does not see what is denied or ambiguous`(target: String) async throws {
        try await withProxy(Support.changed { $0.backend.deniedPaths = [PathPattern("/secret")].compactMap(\.self) }) {
            _ in
            Issue.record("the backend was called")
        } _: { port in
            for method in ["GET", "POST", "DELETE"] {
                let answer = try await RawClient.exchange(
                    port, "\(method) \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                let isDenied = target.contains("ack") || target.contains("stream") || target.contains("ecret")
                #expect(answer.status == (isDenied ? 403 : 400))
                #expect(answer.field("Rind-Error") == (isDenied ? "proxy.denied" : "proxy.ambiguous_target"))
            }
        }
    }

    @Test func `a backend that is away or silent is a clean error`() async throws {
        try await Support.withServer { port in
            let answer = try await RawClient.exchange(port, "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(answer.status == 502 && answer.field("Rind-Error") == "backend.connect")
        }
        try await withProxy(Support.changed { $0.backend.firstByteTimeout = .milliseconds(100) }) { peer in
            _ = try await peer.head()
            await peer.waitForEnd()
        } _: { port in
            let answer = try await RawClient.exchange(port, "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(answer.status == 504 && answer.field("Rind-Error") == "backend.timeout.first_byte")
        }
    }

    @Test func `an answer that the backend does not finish is cut`() async throws {
        try await withProxy { peer in
            _ = try await peer.head()
            try await peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
        } _: { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await !client.readToEnd().contains("0\r\n\r\n"))
                #expect(client.wasReset)
            }
        }
    }

    @Test func `an upload that the client does not finish does not end cleanly at the backend`() async throws {
        let ended = Gate()
        try await withProxy { peer in
            _ = try await peer.head()
            while true {
                do {
                    guard try await peer.piece() != nil else { break }
                } catch {
                    ended.open()
                    return
                }
            }
            Issue.record("the backend saw the end of the body")
            ended.open()
        } _: { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
                client.finish()
                try await ended.wait()
            }
        }
    }

    @Test func `an answer that comes before the upload ends is passed on`() async throws {
        try await withProxy { peer in
            _ = try await peer.head()
            try await peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
        } _: { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n")
                let answer = try RawAnswer(try await client.readToEnd())
                #expect(answer.status == 413 && answer.rest == "big" && answer.field("Connection") == "close")
            }
        }
    }

    @Test func `a client that hangs up ends the exchange with the backend`() async throws {
        let started = Gate()
        let ended = Gate()
        try await withProxy { peer in
            _ = try await peer.head()
            try await peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata")
            started.open()
            await peer.waitForEnd()
            ended.open()
        } _: { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n")
                _ = try await client.read(through: "data")
                try await started.wait()
                try await client.close()
                try await ended.wait()
            }
        }
    }

    @Test func `nothing passes where the operator says so`() async throws {
        var configuration = Support.configuration()
        configuration.backend.passThrough = false
        try await Support.withServer(StubService(), configuration) { port in
            let answer = try await RawClient.exchange(port, "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(answer.status == 404 && answer.field("Rind-Error") == "proxy.off")
        }
    }

    @Test func `browsers hear the gateway's rules, not the backend's`() async throws {
        try await withProxy(Support.changed { $0.gateway.corsOrigins = ["https://app.example"] }) { peer in
            _ = try await peer.head()
            try await peer.send(
                "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nVary: Accept\r\nContent-Length: 0\r\n\r\n")
            await peer.waitForEnd()
        } _: { port in
            let fields = "Host: h\r\nOrigin: https://app.example\r\nConnection: close\r\n"
            let answer = try await RawClient.exchange(port, "GET /a HTTP/1.1\r\n\(fields)\r\n")
            #expect(answer.fields("Access-Control-Allow-Origin") == ["https://app.example"])
            #expect(answer.fields("Vary") == ["Accept", "Origin"])
            let preflight = try await RawClient.exchange(
                port, "OPTIONS /sync HTTP/1.1\r\n\(fields)Access-Control-Request-Method: POST\r\n\r\n")
            #expect(preflight.status == 204 && preflight.field("Access-Control-Allow-Methods") == "GET, POST")
        }
    }
}
