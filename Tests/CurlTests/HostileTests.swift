// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Foundation
import GatewayTesting
import HTTPTypes
import NIOCore
import Testing

@Suite struct HostileTests {
    struct Request: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var url = "/"
        var absolute: String?
        var method = HTTPRequest.Method.get
        var field: (String, String)?
        var body = CurlRequest.Body.none
    }

    @Test(arguments: [
        Request(testDescription: "line break in the path", url: "/a\r\nX: 1"),
        Request(testDescription: "line feed", url: "/a\nX:1"),
        Request(testDescription: "zero byte", url: "/a\0b"),
        Request(testDescription: "space", url: "/a HTTP/1.1"),
        Request(testDescription: "tab", url: "/a\tb"),
        Request(testDescription: "not ASCII", url: "/\u{e9}"),
        Request(testDescription: "backslash", url: "/\\evil"),
        Request(testDescription: "fragment", url: "/#x"),
        Request(testDescription: "user name", absolute: "http://user:secret@127.0.0.1:"),
        Request(testDescription: "a host in front", absolute: "http://127.0.0.1@127.0.0.1:"),
        Request(testDescription: "file", absolute: "file:///etc/passwd?"),
        Request(testDescription: "no scheme", absolute: "127.0.0.1:"),
        Request(testDescription: "other scheme", absolute: "gopher://127.0.0.1:"),
        Request(testDescription: "no host", absolute: "http:///?"),
        Request(testDescription: "too long", url: "/" + String(repeating: "a", count: 20_000)),
        Request(testDescription: "CONNECT", method: .connect),
        Request(testDescription: "HEAD with a body", method: .head, body: .bytes(ByteBuffer(string: "x"))),
        Request(testDescription: "Host", field: ("Host", "evil")),
        Request(testDescription: "Content-Length", field: ("content-length", "0")),
        Request(testDescription: "Transfer-Encoding", field: ("Transfer-Encoding", "chunked")),
        Request(testDescription: "Connection", field: ("Connection", "X-Secret")),
        Request(testDescription: "Expect", field: ("Expect", "100-continue")),
        Request(testDescription: "Upgrade", field: ("Upgrade", "h2c")),
        Request(testDescription: "too many bytes", field: ("X-Long", String(repeating: "a", count: 300_000))),
    ])
    func `a request that could mean something else is refused before anything is sent`(request: Request) async throws {
        try await LoopbackServer.run { peer in
            try await peer.answer()
        } _: { server in
            try await withReactor { reactor in
                var fields = HTTPFields()
                if let (name, value) = request.field { fields[.init(name)!] = value }
                let url = request.absolute.map { "\($0)\(server.port)" } ?? server.url + request.url
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.execute(
                        CurlRequest(method: request.method, url: url, fields: fields, body: request.body))
                }
                #expect(error?.code == "backend.request")
                #expect(error?.mayHaveReachedServer == false)
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test func `a line break in a field's value never becomes a line`() async throws {
        try await LoopbackServer.run { peer in
            if let request = try await peer.readRequest() { try await peer.answer(request.head) }
        } _: { server in
            try await withReactor { reactor in
                // The type already replaces such bytes; this holds it to that.
                let fields: HTTPFields = [.authorization: "Bearer a\r\nX-Admin: 1\0"]
                let response = try await reactor.execute(CurlRequest(url: server.url, fields: fields))
                let head = String(buffer: try await response.body.collect(upTo: 10_000))
                #expect(!head.contains("\r\nX-Admin"))
            }
        }
    }

    static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    static func long(_ count: Int) -> String { String(repeating: "a", count: count) }

    struct Answer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: String
        var code: String
        var isAfterHead = false
    }

    @Test(arguments: [
        Answer(testDescription: "nothing", bytes: "", code: "backend.closed"),
        Answer(testDescription: "half a head", bytes: "HTTP/1.1 200 OK\r\nContent-Le", code: "backend.closed"),
        Answer(
            testDescription: "content length too short", bytes: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
            code: "backend.closed", isAfterHead: true),
        Answer(
            testDescription: "no last chunk",
            bytes: chunked + "4\r\nhalf\r\n",
            code: "backend.closed", isAfterHead: true),
        Answer(
            testDescription: "half a chunk", bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
            code: "backend.closed", isAfterHead: true),
        Answer(
            testDescription: "no chunk's size",
            bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhalf\r\n", code: "backend.closed",
            isAfterHead: true),
        Answer(testDescription: "HTTP/0.9", bytes: "<html>hello</html>", code: "backend.protocol"),
        Answer(
            testDescription: "a head without end",
            bytes: "HTTP/1.1 200 OK\r\n"
                + String(repeating: "X: \(String(repeating: "a", count: 1000))\r\n", count: 100),
            code: "backend.head_too_large"),
        Answer(
            testDescription: "a line without end",
            bytes: "HTTP/1.1 200 OK\r\nX: \(long(90_000))\r\n",
            code: "backend.head_too_large"),
        Answer(
            testDescription: "interim heads without end",
            bytes: String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 5000), code: "backend.head_too_large"),
        Answer(
            testDescription: "an encoding of the transfer that nobody asked for",
            bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n4\r\nhalf\r\n0\r\n\r\n",
            code: "backend.protocol"),
        Answer(
            testDescription: "another protocol",
            bytes: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            code: "backend.protocol"),
    ])
    func `an answer that is cut or no HTTP is an error, never a clean end`(answer: Answer) async throws {
        try await LoopbackServer.run { peer in
            _ = try await peer.readRequest()
            if !answer.bytes.isEmpty { try await peer.write(answer.bytes) }
        } _: { server in
            try await withReactor { reactor in
                let error = await #expect(throws: CurlError.self) {
                    let response = try await reactor.execute(CurlRequest(method: .post, url: server.url))
                    #expect(answer.isAfterHead)
                    _ = try await response.body.collect(upTo: 1000)
                }
                #expect(error?.code == answer.code)
                #expect(error?.mayHaveReachedServer == true)
            }
        }
    }

    /// A port on which nobody listens, kept so that no other test gets it.
    static func silentPort() -> (descriptor: CInt, port: UInt16)? {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        return isBound ? (descriptor, UInt16(bigEndian: address.sin_port)) : nil
    }

    @Test func `a connection that is refused is told apart from one that broke`() async throws {
        let silent = try #require(Self.silentPort())
        defer { close(silent.descriptor) }
        try await withReactor { reactor in
            let error = await #expect(throws: CurlError.self) {
                try await reactor.execute(CurlRequest(url: "http://127.0.0.1:\(silent.port)/"))
            }
            #expect(error?.code == "backend.connect")
            #expect(error?.mayHaveReachedServer == false)
        }
    }

    @Test func `a name without address is its own error`() async throws {
        try await withReactor { reactor in
            // By RFC 6761 nothing ever has this name.
            let error = await #expect(throws: CurlError.self) {
                try await reactor.execute(CurlRequest(url: "http://nothing.invalid/"))
            }
            #expect(error?.code == "backend.resolve")
        }
    }

    @Test func `an answer that begins with a continued line leaves those before and after it alone`() async throws {
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() {
                if request.head.contains("/continued") {
                    try await peer.write("HTTP/1.1 200 OK\r\n\tX-Long: \(Self.long(500))\r\nContent-Length: 0\r\n\r\n")
                } else {
                    try await peer.answer("12345")
                }
            }
        } _: { server in
            try await withReactor { reactor in
                for _ in 0..<20 {
                    let plain = try await reactor.execute(CurlRequest(url: server.url))
                    #expect(String(buffer: try await plain.body.collect(upTo: 10)) == "12345")
                    let continued = try? await reactor.execute(CurlRequest(url: server.url + "/continued"))
                    _ = try? await continued?.body.collect(upTo: 10)
                }
            }
        }
    }

    @Test func `a body larger than its reader wants is refused`() async throws {
        try await LoopbackServer.run { peer in
            while try await peer.readRequest() != nil { try await peer.answer("12345") }
        } _: { server in
            try await withReactor { reactor in
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.execute(CurlRequest(url: server.url)).body.collect(upTo: 4)
                }
                #expect(error?.code == "backend.body_too_large")
            }
        }
    }
}
