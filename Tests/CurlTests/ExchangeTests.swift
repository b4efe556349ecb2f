// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Foundation
import GatewayTesting
import HTTPTypes
import NIOCore
import Testing

/// A reactor that is gone at the end of the test.
func withReactor<Result>(
    _ settings: CurlReactor.Settings = .init(), _ body: (CurlReactor) async throws -> Result
) async throws -> Result {
    let reactor = try CurlReactor.start(settings)
    do {
        let result = try await body(reactor)
        await reactor.shutdown()
        return result
    } catch {
        await reactor.shutdown()
        throw error
    }
}

@Suite struct ExchangeTests {
    @Test func `a request goes out exactly as it was made`() async throws {
        let requests = Events(of: String.self)
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() {
                requests.add(request.head)
                try await peer.answer("hello")
            }
        } _: { server in
            try await withReactor { reactor in
                var request = CurlRequest(url: "\(server.url)/a/../b/./c?q=%20%00&x=[1]")
                request.fields[.authorization] = "Bearer abc"
                request.fields[.init("X-Empty")!] = ""
                request.fields[.cookie] = "a=1; b=2"
                let response = try await reactor.execute(request)
                #expect(response.status == .ok)
                #expect(response.fields[.contentLength] == "5")
                #expect(try await response.body.collect(upTo: 5) == ByteBuffer(string: "hello"))
                let head = await requests.next()
                #expect(
                    head == """
                        GET /a/../b/./c?q=%20%00&x=[1] HTTP/1.1\r
                        Host: 127.0.0.1:\(server.port)\r
                        Authorization: Bearer abc\r
                        X-Empty:\r
                        Cookie: a=1; b=2\r
                        \r

                        """)
            }
        }
    }

    /// A handle of libcurl serves one exchange after the other, of different callers.
    @Test func `nothing of an exchange is left for the next one`() async throws {
        let heads = Events(of: String.self)
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() {
                heads.add(request.head)
                try await peer.answer("hello")
            }
        } _: { server in
            try await withReactor { reactor in
                var first = CurlRequest(method: .put, url: server.url + "/first")
                first.fields[.authorization] = "Bearer first"
                first.fields[.cookie] = "session=first"
                first.fields[.contentType] = "application/json"
                first.body = .bytes(ByteBuffer(string: "{}"))
                first.isIdempotent = true
                for _ in 0..<2 {
                    _ = try await reactor.execute(first).body.collect(upTo: 5)
                    #expect(await heads.next()?.contains("Bearer first") == true)
                }
                _ = try await reactor.execute(CurlRequest(url: server.url + "/second")).body.collect(upTo: 5)
                #expect(await heads.next() == "GET /second HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
                let head = try await reactor.execute(CurlRequest(method: .head, url: server.url + "/third"))
                #expect(head.status == .ok)
                #expect(await heads.next() == "HEAD /third HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            }
        }
    }

    struct Sending: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method: HTTPRequest.Method
        var body: CurlRequest.Body
        var field: String?
        var content: String
    }

    static let writeTwice: @Sendable (CurlUploadWriter) async throws -> Void = { writer in
        try await writer.write(ByteBuffer(string: "first, "))
        try await writer.write(ByteBuffer(string: "second"))
    }

    @Test(arguments: [
        Sending(testDescription: "no body", method: .get, body: .none, field: nil, content: ""),
        Sending(testDescription: "delete", method: .delete, body: .none, field: nil, content: ""),
        Sending(testDescription: "empty", method: .post, body: .none, field: "Content-Length: 0", content: ""),
        Sending(
            testDescription: "bytes", method: .post, body: .bytes(ByteBuffer(string: "some bytes")),
            field: "Content-Length: 10", content: "some bytes"),
        Sending(
            testDescription: "delete with a body", method: .delete, body: .bytes(ByteBuffer(string: "{}")),
            field: "Content-Length: 2", content: "{}"),
        Sending(
            testDescription: "stream of known length", method: .put,
            body: .stream(length: 13, produce: writeTwice), field: "Content-Length: 13", content: "first, second"),
        Sending(
            testDescription: "stream", method: .patch, body: .stream(length: nil, produce: writeTwice),
            field: "Transfer-Encoding: chunked", content: "first, second"),
        Sending(
            testDescription: "empty stream", method: .post, body: .stream(length: nil) { _ in },
            field: "Transfer-Encoding: chunked", content: ""),
    ])
    func `every kind of body arrives whole, with the framing that belongs to it`(sending: Sending) async throws {
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() {
                try await peer.answer(request.head + String(buffer: request.body))
            }
        } _: { server in
            try await withReactor { reactor in
                let response = try await reactor.execute(
                    CurlRequest(method: sending.method, url: "\(server.url)/x", body: sending.body))
                let text = String(buffer: try await response.body.collect(upTo: 1000))
                let parts = text.components(separatedBy: "\r\n\r\n")
                #expect(parts[0].hasPrefix("\(sending.method.rawValue) /x HTTP/1.1\r\n"))
                #expect(parts.dropFirst().joined(separator: "\r\n\r\n") == sending.content)
                if let field = sending.field {
                    #expect(parts[0].contains("\r\n\(field)"))
                } else {
                    #expect(!parts[0].contains("Content-Length") && !parts[0].contains("Transfer-Encoding"))
                }
                #expect(!parts[0].contains("Expect") && !parts[0].contains("Content-Type"))
            }
        }
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = HTTPRequest.Method.get
        var bytes: String
        var status: Int
        var body = ""
        var check: @Sendable (HTTPFields) -> Bool = { _ in true }
    }

    @Test(arguments: [
        Answer(
            testDescription: "interim heads",
            bytes: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", status: 200, body: "ok",
            check: { $0[.init("Link")!] == nil }),
        Answer(
            testDescription: "head only", method: .head, bytes: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
            status: 200, check: { $0[.contentLength] == "9" }),
        Answer(testDescription: "no content", bytes: "HTTP/1.1 204 No Content\r\n\r\n", status: 204),
        Answer(
            testDescription: "not modified", bytes: "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n", status: 304,
            check: { $0[.eTag] == "\"a\"" }),
        Answer(
            testDescription: "redirect",
            bytes: "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", status: 302,
            check: { $0[.location] == "http://127.0.0.1:1/" }),
        Answer(
            testDescription: "chunks and trailers",
            bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: 1\r\n\r\n"
                + "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nA: 2\r\nB: 3\r\n\r\n", status: 200, body: "abcde",
            check: { $0[.init("A")!] == "1" && $0[.init("B")!] == nil }),
        Answer(
            testDescription: "repeated, folded, empty and foreign fields",
            bytes: "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nLong: x\r\n  y\r\nEmpty:\r\n"
                + "B\u{fc}cher: 1\r\nText: gr\u{fc}n\r\nContent-Length: 0\r\n\r\n", status: 200,
            check: {
                $0[values: .setCookie] == ["a=1", "b=2"] && $0[.init("Long")!] == "x y" && $0[.init("Empty")!] == ""
                    && $0[.init("Text")!] == "gr\u{fc}n"
            }),
        Answer(
            testDescription: "an encoding is left as it is",
            bytes: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nzip!", status: 200,
            body: "zip!"),
        Answer(
            testDescription: "until the end of the connection", bytes: "HTTP/1.0 200 OK\r\n\r\nold", status: 200,
            body: "old"),
        Answer(testDescription: "no reason phrase", bytes: "HTTP/1.1 299\r\nContent-Length: 0\r\n\r\n", status: 299),
    ])
    func `every kind of answer is understood`(answer: Answer) async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            try await peer.write(answer.bytes)
        } _: { server in
            try await withReactor { reactor in
                let response = try await reactor.execute(CurlRequest(method: answer.method, url: server.url))
                #expect(response.status.code == answer.status)
                #expect(answer.check(response.fields))
                #expect(String(buffer: try await response.body.collect(upTo: 1000)) == answer.body)
            }
        }
    }

    @Test func `a hundred transfers at a time get each their own answer`() async throws {
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() {
                let number = request.line.split(separator: "/")[1].prefix { $0.isNumber }
                let line = ByteBuffer(string: "line of \(number)\n")
                let count = 20_000
                try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(count * line.readableBytes)\r\n\r\n")
                let block = ByteBuffer(repeating: line, count: 1000)
                for _ in 0..<count / 1000 { try await peer.write(block) }
            }
        } _: { server in
            try await withReactor { reactor in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 100..<200 {
                        group.addTask {
                            let response = try await reactor.execute(CurlRequest(url: "\(server.url)/\(number)"))
                            let body = try await response.body.collect(upTo: 1 << 20)
                            #expect(body.readableBytes == 20_000 * 12)
                            let block = ByteBuffer(repeating: ByteBuffer(string: "line of \(number)\n"), count: 1000)
                            #expect(body == ByteBuffer(repeating: block, count: 20))
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(server.connectionCount == 100)
        }
    }
}

extension ByteBuffer {
    init(repeating part: ByteBuffer, count: Int) {
        self.init()
        for _ in 0..<count { writeImmutableBuffer(part) }
    }
}
