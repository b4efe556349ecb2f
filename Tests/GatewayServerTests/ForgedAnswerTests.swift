// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gateway
import GatewayConfig
import GatewayServer
import NIOCore
import NIOHTTP1
import SyncModel
import Testing

/// Clients behind a proxy that keeps its connections share them: one's answer must never end in another's.
@Suite struct ForgedAnswerTests {
    private func withProxy(
        _ script: @escaping @Sendable (ScriptedBackend.Peer) async throws -> Void,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await ScriptedBackend.run(script) { backendPort in
            try await Support.withServer(StubService(), Support.configuration(backendPort: backendPort)) { port in
                try await body(port)
            }
        }
    }

    private static let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

    /// The body of the next answer as a proxy reads it.
    private static func next(_ client: inout RawClient) async throws -> String {
        let head = try RawAnswer(try await client.read(through: "\r\n\r\n"))
        let length = head.field("Content-Length").flatMap { Int($0) }
        if let length { return try await client.read(count: length) }
        let text = try await client.read(through: "0\r\n\r\n")
        return try #require(try RawAnswer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(text)").body)
    }

    @Test(arguments: [
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
    ])
    func `an answer with chunks and a length is no answer for the next request`(framing: String) async throws {
        try await withProxy { peer in
            while let head = try await peer.head() {
                if head.uri == "/evil" {
                    let body = "hello" + Self.forged
                    let size = String(body.utf8.count, radix: 16)
                    try await peer.send("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n\(size)\r\n\(body)\r\n0\r\n\r\n")
                } else {
                    try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\ngenuine")
                }
            }
        } _: { port in
            try await RawClient.connect(to: port) { client in
                try await client.send("GET /evil HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await Self.next(&client) == "hello" + Self.forged)
                for _ in 0..<2 {
                    try await client.send("GET /mine HTTP/1.1\r\nHost: h\r\n\r\n")
                    #expect(try await Self.next(&client) == "genuine")
                }
            }
        }
    }

    @Test(arguments: [
        "Content-Length: 5\r\nContent-Length: 11", "Content-Length: 5, 11", "Content-Length: +5",
        "Content-Length: 9223372036854775808", "Transfer-Encoding: chunked, chunked",
        "Content-Length: 5\r\nTransfer-Encoding: identity",
    ])
    func `an answer that could end in two places is not passed on`(framing: String) async throws {
        try await withProxy { peer in
            _ = try await peer.head()
            try await peer.send("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\nhello\(Self.forged)")
        } _: { port in
            let answer = try await RawClient.exchange(port, "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(answer.status == 502 && answer.field("Rind-Error") == "backend.protocol")
            #expect(!answer.rest.contains("hello") && !answer.rest.contains("forged"))
        }
    }

    @Test func `what comes behind an answer of one length is nobody's`() async throws {
        try await withProxy { peer in
            while try await peer.head() != nil {
                try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\ngenuine\(Self.forged)")
            }
        } _: { port in
            try await RawClient.connect(to: port) { client in
                for _ in 0..<4 {
                    try await client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
                    #expect(try await Self.next(&client) == "genuine")
                }
            }
        }
    }

    @Test func `an answer that comes before the upload has ended is passed on meanwhile`() async throws {
        try await withProxy { peer in
            while try await peer.head() != nil {
                try await peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                while let piece = try await peer.piece() {
                    let text = String(buffer: piece)
                    try await peer.send("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n")
                }
                try await peer.send("0\r\n\r\n")
            }
        } _: { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(
                    "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n")
                #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
                #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
                for text in ["ab", "cd", "ef"] {
                    try await client.send(text)
                    #expect(try await client.read(through: "2\r\n\(text)\r\n").hasSuffix("\(text)\r\n"))
                }
                _ = try await client.read(through: "0\r\n\r\n")
                try await client.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
            }
        }
    }
}
