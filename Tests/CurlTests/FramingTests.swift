// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import GatewayTesting
import HTTPTypes
import NIOCore
import Testing

/// Where an answer ends, for those who pass it on.
@Suite struct FramingTests {
    struct Head: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var fields: String
        var version = "1.1"
    }

    private static let chunks = "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"

    @Test(arguments: [
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: Chunked\r\ncontent-length: 5",
        "Content-Length: 5\r\nContent-Length: 6\r\nTransfer-Encoding: chunked",
    ])
    func `chunks come before a length, which is not told, and the connection serves nobody else`(
        fields: String
    ) async throws {
        try await LoopbackServer.run { peer in
            while try await peer.readRequest() != nil {
                try await peer.write("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(Self.chunks)")
            }
        } _: { server in
            try await withReactor { reactor in
                for _ in 0..<2 {
                    let response = try await reactor.execute(CurlRequest(url: server.url))
                    #expect(response.fields[.contentLength] == nil)
                    #expect(String(buffer: try await response.body.collect(upTo: 100)) == "hello world")
                }
            }
            #expect(server.connectionCount == 2)
        }
    }

    /// Requests and answers behind which a server sends what nobody has asked for.
    @Test(
        arguments: [
            (.get, "200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            (.get, "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
            (.get, "204 No Content\r\n\r\n"), (.get, "304 Not Modified\r\nContent-Length: 11\r\n\r\n"),
            (.head, "200 OK\r\nContent-Length: 11\r\n\r\n"), (.head, "200 OK\r\n\r\n"),
        ] as [(HTTPRequest.Method, String)])
    func `what comes behind an answer is not taken for the next one`(_ row: (HTTPRequest.Method, String)) async throws {
        let isDone = Events(of: Void.self)
        let isSent = Events(of: Void.self)
        try await LoopbackServer.run { peer in
            while try await peer.readRequest() != nil {
                guard peer.number == 1 else {
                    try await peer.answer("genuine")
                    continue
                }
                try await peer.write("HTTP/1.1 \(row.1)")
                _ = await isDone.next()
                // The client may have closed the connection already.
                try? await peer.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
                isSent.add(())
            }
        } _: { server in
            try await withReactor { reactor in
                let first = try await reactor.execute(CurlRequest(method: row.0, url: server.url))
                _ = try await first.body.collect(upTo: 100)
                isDone.add(())
                _ = await isSent.next()
                for method in [HTTPRequest.Method.put, .get] {
                    let next = try await reactor.execute(CurlRequest(method: method, url: server.url))
                    #expect(String(buffer: try await next.body.collect(upTo: 100)) == "genuine")
                }
            }
            #expect(server.connectionCount == 2)
        }
    }

    @Test(arguments: ["5", "05", "5\r\nContent-Length: 5", "5, 5", " 5 ,5"])
    func `one length is one, however often it is said`(value: String) async throws {
        try await LoopbackServer.run { peer in
            while try await peer.readRequest() != nil {
                try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\nhello")
            }
        } _: { server in
            try await withReactor { reactor in
                for _ in 0..<2 {
                    let response = try await reactor.execute(CurlRequest(url: server.url))
                    #expect(response.fields[values: .contentLength] == ["5"])
                    #expect(String(buffer: try await response.body.collect(upTo: 100)) == "hello")
                }
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test(arguments: [
        Head(testDescription: "two lengths", fields: "Content-Length: 5\r\nContent-Length: 11"),
        Head(testDescription: "two lengths in one field", fields: "Content-Length: 5, 11"),
        Head(testDescription: "a sign", fields: "Content-Length: +5"),
        Head(testDescription: "below zero", fields: "Content-Length: -5"),
        Head(testDescription: "hexadecimal", fields: "Content-Length: 0x5"),
        Head(testDescription: "something behind", fields: "Content-Length: 5;a"),
        Head(testDescription: "two words", fields: "Content-Length: 5 11"),
        Head(testDescription: "a length of 2^63", fields: "Content-Length: 9223372036854775808"),
        Head(testDescription: "a length of 2^64 + 5", fields: "Content-Length: 18446744073709551621"),
        Head(testDescription: "no length in the field", fields: "Content-Length:"),
        Head(testDescription: "a folded length", fields: "Content-Length: 5\r\n 1"),
        Head(testDescription: "chunked twice", fields: "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        Head(testDescription: "chunked twice in one field", fields: "Transfer-Encoding: chunked, chunked"),
        Head(testDescription: "identity", fields: "Content-Length: 5\r\nTransfer-Encoding: identity"),
        Head(testDescription: "not chunked last", fields: "Transfer-Encoding: chunked, gzip"),
        Head(testDescription: "a folded coding", fields: "Transfer-Encoding: chunked\r\n , gzip"),
        Head(testDescription: "no coding in the field", fields: "Content-Length: 5\r\nTransfer-Encoding:"),
        Head(testDescription: "chunks in HTTP/1.0", fields: "Transfer-Encoding: chunked", version: "1.0"),
    ])
    func `an answer that could end in two places is none`(head: Head) async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            try await peer.write("HTTP/\(head.version) 200 OK\r\n\(head.fields)\r\n\r\n\(Self.chunks)")
        } _: { server in
            try await withReactor { reactor in
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.execute(CurlRequest(url: server.url))
                }
                #expect(error?.code == "backend.protocol")
            }
        }
    }

    @Test func `an answer that comes while its request is being sent is read meanwhile`() async throws {
        let pieces = 200
        let echoed = Events(of: Void.self)
        try await LoopbackServer.run { peer in
            guard try await peer.readHead() != nil else { return }
            try await peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for number in 0..<pieces {
                // The client writes a piece when the one before has come back.
                _ = try await peer.read()
                try await peer.write("4\r\n\(1_000 + number)\r\n")
            }
            try await peer.write("0\r\n\r\n")
            await peer.waitForEnd()
        } _: { server in
            try await withReactor { reactor in
                let request = CurlRequest(
                    method: .post, url: server.url,
                    body: .stream(length: nil) { writer in
                        for _ in 0..<pieces {
                            try await writer.write(ByteBuffer(repeating: 0x61, count: 100))
                            await echoed.next()
                        }
                    })
                let text = try await reactor.perform(request) { response in
                    var text = ""
                    for try await chunk in response.body {
                        text += String(buffer: chunk)
                        for _ in 0..<(chunk.readableBytes / 4) { echoed.add(()) }
                    }
                    return text
                }
                #expect(text == (0..<pieces).map { "\(1_000 + $0)" }.joined())
            }
        }
    }

    @Test func `time in which a server that has begun to answer waits for the request does not count`() async throws {
        let goOn = Events(of: Void.self)
        try await LoopbackServer.run { peer in
            guard try await peer.readHead() != nil else { return }
            try await peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
            while let piece = try await peer.read(), !String(buffer: piece).contains("0\r\n\r\n") {}
            try await peer.write("0\r\n\r\n")
        } _: { server in
            try await withReactor { reactor in
                let request = CurlRequest(
                    method: .post, url: server.url,
                    body: .stream(length: nil) { writer in
                        await goOn.next()
                        try await Task.sleep(for: .seconds(8))
                        try await writer.write(ByteBuffer(string: "x"))
                    },
                    // Long enough for a machine that is busy with something else when the request has ended.
                    timeouts: CurlTimeouts(connect: nil, firstByte: nil, idle: .seconds(4), total: nil))
                let text = try await reactor.perform(request) { response in
                    goOn.add(())
                    return String(buffer: try await response.body.collect(upTo: 10))
                }
                #expect(text == "ok")
            }
        }
    }
}
