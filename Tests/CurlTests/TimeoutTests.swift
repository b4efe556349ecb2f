// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import GatewayTesting
import HTTPTypes
import NIOCore
import Testing

// One at a time: the deadlines are real, and a busy machine is not a silent server.
@Suite(.serialized) struct TimeoutTests {
    static let short = Duration.milliseconds(400)

    /// Expects the error, and that it came neither early nor late.
    func expectTimeout(
        _ deadline: String, _ body: () async throws -> Void, _ location: SourceLocation = #_sourceLocation
    ) async {
        let start = ContinuousClock.now
        let error = await #expect(throws: CurlError.self, sourceLocation: location) { try await body() }
        #expect(error?.code == "backend.timeout.\(deadline)", sourceLocation: location)
        let elapsed = ContinuousClock.now - start
        #expect(elapsed >= Self.short && elapsed < .seconds(30), "\(elapsed)", sourceLocation: location)
    }

    @Test func `a handshake that does not come counts as connecting`() async throws {
        let ended = Events(of: Void.self)
        try await LoopbackServer.run { peer in
            await peer.waitForEnd()
            ended.add(())
        } _: { server in
            try await withReactor { reactor in
                await expectTimeout("connect") {
                    // Long enough for the connection itself to be made on a busy machine.
                    let timeouts = CurlTimeouts(connect: .seconds(2), firstByte: nil, idle: nil)
                    _ = try await reactor.execute(
                        CurlRequest(url: "https://127.0.0.1:\(server.port)/", timeouts: timeouts))
                }
                await ended.next()
            }
        }
    }

    @Test func `waiting for a free connection counts as connecting`() async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            await peer.waitForEnd()
        } _: { server in
            var settings = CurlReactor.Settings()
            settings.maximumConnections = 1
            try await withReactor(settings) { reactor in
                let first = try await reactor.execute(CurlRequest(url: server.url))
                await expectTimeout("connect") {
                    _ = try await reactor.execute(
                        CurlRequest(url: server.url, timeouts: CurlTimeouts(connect: Self.short)))
                }
                _ = first
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `a server that takes the request and says nothing is too late with its first byte`() async throws {
        let ended = Events(of: Void.self)
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            await peer.waitForEnd()
            ended.add(())
        } _: { server in
            try await withReactor { reactor in
                await expectTimeout("first_byte") {
                    let timeouts = CurlTimeouts(firstByte: Self.short, idle: nil)
                    _ = try await reactor.execute(
                        CurlRequest(
                            method: .post, url: server.url, body: .bytes(ByteBuffer(string: "x")), timeouts: timeouts))
                }
                // The timeout has closed the connection.
                await ended.next()
            }
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"])
    func `a server that stops in the middle has fallen silent`(bytes: String) async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            try await peer.write(bytes)
            await peer.waitForEnd()
        } _: { server in
            try await withReactor { reactor in
                await expectTimeout("idle") {
                    let timeouts = CurlTimeouts(idle: Self.short)
                    let response = try await reactor.execute(CurlRequest(url: server.url, timeouts: timeouts))
                    _ = try await response.body.collect(upTo: 100)
                }
            }
        }
    }

    @Test func `a server that drips is not silent, but has no more time than the whole allows`() async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            try await peer.write("HTTP/1.1 200 OK\r\n\r\n")
            while true {
                try await peer.write(".")
                try await Task.sleep(for: .milliseconds(20))
            }
        } _: { server in
            try await withReactor { reactor in
                await expectTimeout("total") {
                    let timeouts = CurlTimeouts(idle: .seconds(3), total: .seconds(4))
                    let response = try await reactor.execute(CurlRequest(url: server.url, timeouts: timeouts))
                    _ = try await response.body.collect(upTo: .max)
                }
            }
        }
    }

    @Test func `a slow reader does not make the server silent`() async throws {
        let size = 16 << 20
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            for _ in 0..<64 { try await peer.write(ByteBuffer(repeating: 1, count: size / 64)) }
        } _: { server in
            try await withReactor { reactor in
                let timeouts = CurlTimeouts(idle: Self.short)
                let response = try await reactor.execute(CurlRequest(url: server.url, timeouts: timeouts))
                var iterator = response.body.makeAsyncIterator()
                var total = try await iterator.next()?.readableBytes ?? 0
                // Much longer than the server may be silent.
                try await Task.sleep(for: Self.short * 3)
                while let chunk = try await iterator.next() { total += chunk.readableBytes }
                #expect(total == size)
            }
        }
    }

    @Test func `a server that does not take the request's body has fallen silent`() async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            try await Task.sleep(for: .seconds(60))
        } _: { server in
            try await withReactor { reactor in
                await expectTimeout("idle") {
                    let timeouts = CurlTimeouts(firstByte: nil, idle: Self.short)
                    _ = try await reactor.execute(
                        CurlRequest(
                            method: .post, url: server.url,
                            body: .stream(length: nil) { writer in
                                while true { try await writer.write(ByteBuffer(repeating: 0, count: 1 << 20)) }
                            }, timeouts: timeouts))
                }
            }
        }
    }

    @Test func `a slow writer is not the server's fault`() async throws {
        try await LoopbackServer.run { peer in
            if let request = try await peer.readRequest() { try await peer.answer(String(buffer: request.body)) }
        } _: { server in
            try await withReactor { reactor in
                // Shorter than the pause, longer than a busy test machine needs for its answer.
                let timeouts = CurlTimeouts(firstByte: Self.short * 3, idle: Self.short * 3)
                let response = try await reactor.execute(
                    CurlRequest(
                        method: .post, url: server.url,
                        body: .stream(length: nil) { writer in
                            try await writer.write(ByteBuffer(string: "one "))
                            try await Task.sleep(for: Self.short * 5)
                            try await writer.write(ByteBuffer(string: "two"))
                        }, timeouts: timeouts))
                #expect(String(buffer: try await response.body.collect(upTo: 100)) == "one two")
            }
        }
    }
}
