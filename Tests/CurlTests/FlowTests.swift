// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import GatewayTesting
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testing

@Suite struct FlowTests {
    /// What the two loopback sockets and the gateway together may hold; everything beyond waits at its source.
    static let bound = 48 << 20

    @Test func `a slow reader stops the server, and later gets every byte`() async throws {
        let size = 200 << 20
        let written = NIOLockedValueBox(0)
        let chunk = ByteBuffer(bytes: (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            for _ in 0..<(size >> 20) {
                try await peer.write(chunk)
                written.withLockedValue { $0 += 1 << 20 }
            }
        } _: { server in
            try await withReactor { reactor in
                let response = try await reactor.execute(CurlRequest(url: server.url))
                var iterator = response.body.makeAsyncIterator()
                var received = try #require(try await iterator.next()).readableBytes
                for _ in 0..<3 {
                    let ahead = try await steady(written, end: size) - received
                    #expect(ahead < Self.bound)
                    // A little further, and it must stop again.
                    for _ in 0..<20 { received += try #require(try await iterator.next()).readableBytes }
                }
                var sample = ByteBuffer()
                while var next = try await iterator.next() {
                    received += next.readableBytes
                    if received > size - (1 << 20) { sample.writeBuffer(&next) }
                }
                #expect(received == size)
                #expect(sample.readableBytesView.suffix(4096).elementsEqual(chunk.readableBytesView.suffix(4096)))
            }
        }
    }

    @Test func `a slow server stops the writer, and later gets every byte`() async throws {
        let size = 100 << 20
        let produced = NIOLockedValueBox(0)
        let mayRead = Events(of: Void.self)
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            await mayRead.next()
            var received = 0
            while received < size, let bytes = try await peer.read() { received += bytes.readableBytes }
            try await peer.answer("\(received)")
        } _: { server in
            try await withReactor { reactor in
                let request = CurlRequest(
                    method: .put, url: server.url,
                    body: .stream(length: Int64(size)) { writer in
                        let chunk = ByteBuffer(repeating: 1, count: 1 << 20)
                        for _ in 0..<(size >> 20) {
                            try await writer.write(chunk)
                            produced.withLockedValue { $0 += 1 << 20 }
                        }
                    })
                let answer = try await withThrowingTaskGroup(of: String.self) { group in
                    group.addTask {
                        let response = try await reactor.execute(request)
                        return String(buffer: try await response.body.collect(upTo: 100))
                    }
                    #expect(try await steady(produced, end: size) < Self.bound)
                    mayRead.add(())
                    return try await group.next()
                }
                #expect(answer == "\(size)")
            }
        }
    }

    @Test(arguments: ["", "Connection: close\r\n"], [303, 413])
    func `a refusal in the middle of an upload ends the writing and is read`(
        field: String, status: Int
    ) async throws {
        let closed = Events(of: String.self)
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            try await peer.write("HTTP/1.1 \(status) No\r\n\(field)Content-Length: 8\r\n\r\ntoo much")
            await peer.waitForEnd()
        } _: { server in
            try await withReactor { reactor in
                let response = try await reactor.execute(
                    CurlRequest(
                        method: .post, url: server.url,
                        body: .stream(length: nil) { writer in
                            do throws(CurlError) {
                                while true { try await writer.write(ByteBuffer(repeating: 0, count: 1 << 16)) }
                            } catch {
                                closed.add(error.code)
                                throw error
                            }
                        }))
                #expect(response.status.code == status)
                #expect(String(buffer: try await response.body.collect(upTo: 100)) == "too much")
                #expect(await closed.next() == "backend.closed")
            }
        }
    }

    @Test(
        arguments: [
            "Content-Length: 8\r\n\r\ntoo much", "Transfer-Encoding: chunked\r\n\r\n8\r\ntoo much\r\n0\r\n\r\n",
        ])
    func `a refusal by a server that closes at once is never lost`(answer: String) async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            // The answer comes at any moment, also between libcurl's look for one and what it sends next.
            for _ in 0..<peer.number % 40 { _ = try await peer.read() }
            // As the system ends a connection of which not everything was read.
            try await peer.reset(after: "HTTP/1.1 413 No\r\n\(answer)")
        } _: { server in
            try await withReactor { reactor in
                try await withThrowingTaskGroup { group in
                    for lane in 0..<8 {
                        group.addTask {
                            for round in 0..<40 {
                                try await Self.expectRefusal(reactor, server.url, pause: lane * round * 5)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    /// Uploads in pieces that come while the server answers, as an app's do, without an end.
    ///
    /// If all of the body went into the sockets, the connection would be kept, and the next request would meet its reset.
    private static func expectRefusal(_ reactor: CurlReactor, _ url: String, pause: Int) async throws {
        let response = try await reactor.execute(
            CurlRequest(
                method: .post, url: url,
                body: .stream(length: 1 << 40) { writer in
                    while true {
                        try await writer.write(ByteBuffer(repeating: 0, count: 1 << 14))
                        if pause > 0 { try await Task.sleep(for: .microseconds(pause)) }
                    }
                }))
        #expect(response.status.code == 413)
        #expect(String(buffer: try await response.body.collect(upTo: 100)) == "too much")
    }

    @Test func `many small chunks come through a paused transfer in order`() async throws {
        let count = 40_000
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            try await peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for start in stride(from: 0, to: count, by: 500) {
                var block = ByteBuffer()
                for number in start..<(start + 500) {
                    let line = "\(number)\n"
                    block.writeString("\(String(line.utf8.count, radix: 16))\r\n\(line)\r\n")
                }
                try await peer.write(block)
            }
            try await peer.write("0\r\n\r\n")
        } _: { server in
            try await withReactor { reactor in
                let response = try await reactor.execute(CurlRequest(url: server.url))
                var collected = ByteBuffer()
                for try await var chunk in response.body {
                    collected.writeBuffer(&chunk)
                    await Task.yield()
                }
                let lines = String(buffer: collected).split(separator: "\n")
                #expect(lines.count == count)
                #expect(lines.enumerated().allSatisfy { $0.element == "\($0.offset)" })
            }
        }
    }

    @Test func `connections are used again`() async throws {
        try await LoopbackServer.run { peer in
            while try await peer.readRequest() != nil { try await peer.answer("\(peer.number)") }
        } _: { server in
            try await withReactor { reactor in
                for body in [CurlRequest.Body.none, .bytes(ByteBuffer(string: "x")), .none] {
                    let response = try await reactor.execute(
                        CurlRequest(method: .put, url: server.url, body: body))
                    #expect(String(buffer: try await response.body.collect(upTo: 10)) == "1")
                }
            }
            #expect(server.connectionCount == 1)
        }
    }

    struct Stale: Sendable {
        var method: HTTPRequest.Method
        var body: CurlRequest.Body
        var isRepeated: Bool
        var isIdempotent: Bool?
    }

    @Test(arguments: [
        Stale(method: .get, body: .none, isRepeated: true),
        Stale(method: .put, body: .bytes(ByteBuffer(string: "x")), isRepeated: true),
        Stale(method: .post, body: .bytes(ByteBuffer(string: "x")), isRepeated: false),
        Stale(method: .post, body: .bytes(ByteBuffer(string: "x")), isRepeated: true, isIdempotent: true),
        Stale(
            method: .post, body: .stream(length: 1) { try await $0.write(ByteBuffer(string: "x")) }, isRepeated: false),
    ])
    func `only what may arrive twice is repeated when a kept connection turns out dead`(stale: Stale) async throws {
        let requests = NIOLockedValueBox<[String]>([])
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() {
                requests.withLockedValue { $0.append(request.line) }
                // The second request on the first connection is taken, and the connection ends.
                if peer.number == 1, request.line.contains("second") { return }
                try await peer.answer("ok")
            }
        } _: { server in
            try await withReactor { reactor in
                let first = try await reactor.execute(CurlRequest(url: "\(server.url)/first"))
                _ = try await first.body.collect(upTo: 10)
                var request = CurlRequest(method: stale.method, url: "\(server.url)/second", body: stale.body)
                if let isIdempotent = stale.isIdempotent { request.isIdempotent = isIdempotent }
                if stale.isRepeated {
                    let response = try await reactor.execute(request)
                    #expect(String(buffer: try await response.body.collect(upTo: 10)) == "ok")
                } else {
                    let error = await #expect(throws: CurlError.self) { try await reactor.execute(request) }
                    #expect(error?.code == "backend.closed")
                    #expect(error?.mayHaveReachedServer == true)
                }
            }
            #expect(requests.withLockedValue { $0.count } == (stale.isRepeated ? 3 : 2))
        }
    }

    @Test(arguments: [HTTPRequest.Method.get, .put, .delete])
    func `a request arrives twice at most, however many kept connections die of it`(method: HTTPRequest.Method)
        async throws
    {
        let (first, second) = (NIOLockedValueBox(0), NIOLockedValueBox(0))
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() {
                guard !request.line.contains("second") else {
                    second.withLockedValue { $0 += 1 }
                    return
                }
                // All are kept at a time.
                first.withLockedValue { $0 += 1 }
                while first.withLockedValue({ $0 }) < 6 { try await Task.sleep(for: .milliseconds(1)) }
                try await peer.answer("ok")
            }
        } _: { server in
            try await withReactor { reactor in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            let response = try await reactor.execute(CurlRequest(url: "\(server.url)/first"))
                            _ = try await response.body.collect(upTo: 10)
                        }
                    }
                    try await group.waitForAll()
                }
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.execute(CurlRequest(method: method, url: "\(server.url)/second"))
                }
                #expect(error?.code == "backend.closed" && error?.mayHaveReachedServer == true)
            }
            #expect(second.withLockedValue { $0 } == 2 && server.connectionCount == 7)
        }
    }

    @Test func `what may arrive twice gets over connections that end while it is being sent`() async throws {
        try await LoopbackServer.run { peer in
            // The end of the connection meets the next request at a different moment each time.
            guard try await peer.readRequest() != nil else { return }
            try await peer.answer("ok")
            let end = ContinuousClock.now + .microseconds(Int.random(in: 0...300))
            while ContinuousClock.now < end { await Task.yield() }
        } _: { server in
            try await withReactor { reactor in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            for _ in 0..<500 {
                                var request = CurlRequest(
                                    method: .post, url: server.url, body: .bytes(ByteBuffer(string: "x")))
                                request.isIdempotent = true
                                let response = try await reactor.execute(request)
                                #expect(String(buffer: try await response.body.collect(upTo: 10)) == "ok")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test func `a post without body never meets a kept connection`() async throws {
        try await LoopbackServer.run { peer in
            while try await peer.readRequest() != nil { try await peer.answer("\(peer.number)") }
        } _: { server in
            try await withReactor { reactor in
                for expected in ["1", "2"] {
                    let response = try await reactor.execute(CurlRequest(method: .post, url: server.url))
                    #expect(String(buffer: try await response.body.collect(upTo: 10)) == expected)
                }
            }
        }
    }
}
