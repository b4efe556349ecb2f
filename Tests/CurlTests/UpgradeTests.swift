// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import GatewayTesting
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Requests that ask the server for another protocol.
@Suite(.timeLimit(.minutes(2))) struct UpgradeTests {
    static let accepted = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n"

    /// A request for a tunnel into which `produce` writes.
    static func request(
        _ url: String, method: HTTPRequest.Method = .get, protocols: String = "websocket", fields: HTTPFields = [:],
        timeouts: CurlTimeouts = CurlTimeouts(),
        _ produce: @escaping @Sendable (CurlUploadWriter) async throws -> Void = { _ in }
    ) -> CurlRequest {
        var request = CurlRequest(
            method: method, url: url, fields: fields, body: .stream(length: nil, produce: produce), timeouts: timeouts)
        request.upgrade = protocols
        return request
    }

    @Test func `the head goes out exactly as it was made, and nothing behind it before the switch`() async throws {
        let heads = Events(of: String.self)
        try await LoopbackServer.run { peer in
            while let head = try await peer.readHead() {
                heads.add(head)
                try await peer.answer(status: "426 Upgrade Required")
            }
        } _: { server in
            try await withReactor { reactor in
                var fields = HTTPFields()
                fields.append(HTTPField(name: .secWebSocketProtocol, value: "chat, v2"))
                fields.append(HTTPField(name: .cookie, value: "a=1"))
                fields.append(HTTPField(name: .cookie, value: "b=2"))
                fields.append(HTTPField(name: .origin, value: ""))
                for (method, target) in [(HTTPRequest.Method.get, "/a%20b?x=%2F"), (.post, "?y"), (.get, "")] {
                    let request = Self.request(
                        server.url + target, method: method, protocols: "websocket, x/1.0", fields: fields
                    ) { writer in try await writer.write(ByteBuffer(string: "early")) }
                    let status = try await reactor.perform(request) { $0.status }
                    #expect(status.code == 426)
                    let shown = target.hasPrefix("/") ? target : "/" + target
                    let length = method == .post ? "Content-Length: 0\r\n" : ""
                    #expect(
                        await heads.next() == """
                            \(method.rawValue) \(shown) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\
                            Connection: Upgrade\r\nUpgrade: websocket, x/1.0\r\n\(length)\
                            Sec-WebSocket-Protocol: chat, v2\r\nOrigin: \r\nCookie: a=1; b=2\r\n\r\n
                            """)
                }
                #expect(server.connectionCount == 3)
            }
        }
    }

    @Test func `after the switch bytes go both ways, until the server ends`() async throws {
        let sizes = [1, 100, 70_000, 1 << 20]
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            // These belong to the tunnel already.
            try await peer.write(Self.accepted + "hello")
            var left = sizes.reduce(0, +)
            while left > 0, let bytes = try await peer.read() {
                left -= bytes.readableBytes
                try await peer.write(bytes)
            }
        } _: { server in
            try await withReactor { reactor in
                let pieces = sizes.map { size in
                    ByteBuffer(bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) })
                }
                let request = Self.request(server.url) { writer in
                    for piece in pieces { try await writer.write(piece) }
                    try await Task.sleep(for: .seconds(60))
                }
                try await reactor.perform(request) { response in
                    #expect(response.status == .switchingProtocols && response.fields[.upgrade] == "WebSocket")
                    let received = try await response.body.collect(upTo: 2 << 20)
                    var expected = ByteBuffer(string: "hello")
                    for piece in pieces { expected.writeImmutableBuffer(piece) }
                    #expect(received == expected)
                }
            }
        }
    }

    @Test func `the end of the request's body is the end of that side only`() async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            try await peer.write(Self.accepted)
            var received = ByteBuffer()
            while var bytes = try await peer.read() { received.writeBuffer(&bytes) }
            try await peer.write("got \(received.readableBytes)")
        } _: { server in
            try await withReactor { reactor in
                let request = Self.request(server.url) { writer in
                    try await writer.write(ByteBuffer(repeating: 7, count: 200_000))
                }
                let answer = try await reactor.perform(request) { try await $0.body.collect(upTo: 100) }
                #expect(String(buffer: answer) == "got 200000")
            }
        }
    }

    /// Answers that are no switch, and what their readers get.
    static let others: [(bytes: String, body: String)] = [
        ("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 5\r\n\r\nnever", "never"),
        ("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nrest", ""),
        (
            "HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA \r\n0123456789\r\n0\r\nT: 1\r\n\r\n",
            "abc0123456789"
        ),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end"),
        ("HTTP/1.0 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "no"),
        ("HTTP/1.1 204 No Content\r\n\r\n", ""),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", ""),
        ("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "ok"),
    ]

    @Test(arguments: others, [false, true])
    func `any other answer is an ordinary one`(other: (bytes: String, body: String), isSplit: Bool) async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            for piece in isSplit ? other.bytes.unicodeScalars.map({ String($0) }) : [other.bytes] {
                try await peer.write(piece)
            }
        } _: { server in
            try await withReactor { reactor in
                let answer = try await reactor.perform(Self.request(server.url)) {
                    try await $0.body.collect(upTo: 100)
                }
                #expect(String(buffer: answer) == other.body)
            }
        }
    }

    @Test(arguments: [
        ("", "backend.closed"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n", "backend.closed"),
        ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket, websocket\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\n\r\n", "backend.protocol"),
        ("HTTP/1.0 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", "backend.protocol"),
        ("HTTP/2 101\r\nUpgrade: websocket\r\n\r\n", "backend.protocol"),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nA: b\0c\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nA: b\rC: d\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "backend.protocol"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "backend.closed"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "backend.closed"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n", "backend.protocol"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "backend.protocol"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;\(String(repeating: "x", count: 20_000))",
            "backend.protocol"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\(String(repeating: "a: b\r\n", count: 5_000))",
            "backend.protocol"
        ),
        ("HTTP/1.1 101 X\r\nA: \(String(repeating: "x", count: 70_000))", "backend.head_too_large"),
        ("HTTP/1.1 101 X\r\n\(String(repeating: "a: b\r\n", count: 12_000))", "backend.head_too_large"),
        (String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 5_000), "backend.head_too_large"),
    ])
    func `an answer that is no good is an error, never a tunnel`(bytes: String, code: String) async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            if !bytes.isEmpty { try await peer.write(bytes) }
        } _: { server in
            try await withReactor { reactor in
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.perform(Self.request(server.url)) { response in
                        #expect(response.status != .switchingProtocols)
                        _ = try await response.body.collect(upTo: 1_000)
                    }
                }
                #expect(error?.code == code)
            }
        }
    }

    @Test(arguments: ["", ",", "web socket", "a\r\nX: y", "a/b/c", "a/", "websocket;q=1"])
    func `a malformed wish is never sent`(protocols: String) async throws {
        try await withReactor { reactor in
            let error = await #expect(throws: CurlError.self) {
                try await reactor.perform(Self.request("http://127.0.0.1:1", protocols: protocols)) { _ in }
            }
            #expect(error?.code == "backend.request")
        }
    }

    @Test func `a side that does not read stops the other one, and gets every byte later`() async throws {
        let size = 64 << 20
        let (sent, taken) = (NIOLockedValueBox(0), NIOLockedValueBox(0))
        let mayRead = Events(of: Void.self)
        let piece = ByteBuffer(repeating: 9, count: 1 << 20)
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            try await peer.write(Self.accepted)
            await mayRead.next()
            while let bytes = try await peer.read() { taken.withLockedValue { $0 += bytes.readableBytes } }
            // Small pieces: before anybody reads, a system may take no more than some 100 KiB.
            for _ in 0..<(size >> 14) {
                try await peer.write(piece.getSlice(at: 0, length: 1 << 14) ?? piece)
                sent.withLockedValue { $0 += 1 << 14 }
            }
        } _: { server in
            try await withReactor { reactor in
                let written = NIOLockedValueBox(0)
                let request = Self.request(server.url) { writer in
                    for _ in 0..<(size >> 20) {
                        try await writer.write(piece)
                        written.withLockedValue { $0 += 1 << 20 }
                    }
                }
                try await reactor.perform(request) { response in
                    #expect(try await steady(written, end: size) < size / 2)
                    mayRead.add(())
                    #expect(try await steady(sent, end: size) < size / 2)
                    #expect(taken.withLockedValue { $0 } == size)
                    var received = 0
                    for try await bytes in response.body { received += bytes.readableBytes }
                    #expect(received == size)
                }
            }
        }
    }

    @Test(arguments: ["", "HTTP/1.1 101 Switching"])
    func `a server that does not say yes or no has a deadline`(beginning: String) async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            if !beginning.isEmpty { try await peer.write(beginning) }
            await peer.waitForEnd()
        } _: { server in
            try await withReactor { reactor in
                let timeouts = CurlTimeouts(
                    firstByte: beginning.isEmpty ? .milliseconds(300) : .seconds(60), idle: .milliseconds(300))
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.perform(Self.request(server.url, timeouts: timeouts)) { _ in }
                }
                #expect(error?.code == (beginning.isEmpty ? "backend.timeout.first_byte" : "backend.timeout.idle"))
            }
        }
    }

    @Test func `no deadline of exchanges ends a tunnel, and whoever cancels it does`() async throws {
        let ended = Events(of: Void.self)
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            try await peer.write(Self.accepted)
            try await Task.sleep(for: .milliseconds(5_500))
            try await peer.write("late")
            await peer.waitForEnd()
            ended.add(())
        } _: { server in
            try await withReactor { reactor in
                let short = Duration.seconds(5)
                let request = Self.request(
                    server.url, timeouts: CurlTimeouts(firstByte: short, idle: short, total: short)
                ) { _ in try await Task.sleep(for: .seconds(60)) }
                try await reactor.perform(request) { response in
                    var iterator = response.body.makeAsyncIterator()
                    let first = try await iterator.next()
                    #expect(first.map { String(buffer: $0) } == "late")
                    response.body.cancel()
                    let error = await #expect(throws: CurlError.self) { try await iterator.next() }
                    #expect(error?.code == "backend.cancelled")
                }
                await ended.next()
            }
        }
    }

    @Test func `hundreds of tunnels share a thread, and more than are allowed wait`() async throws {
        let count = 300
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            try await peer.write(Self.accepted)
            while let bytes = try await peer.read() { try await peer.write(bytes) }
        } _: { server in
            var settings = CurlReactor.Settings()
            settings.maximumConnections = count / 2
            try await withReactor(settings) { reactor in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        group.addTask {
                            let text = "this is number \(number)"
                            let request = Self.request(server.url) { writer in
                                try await writer.write(ByteBuffer(string: text))
                            }
                            let echo = try await reactor.perform(request) { try await $0.body.collect(upTo: 100) }
                            #expect(String(buffer: echo) == text)
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
