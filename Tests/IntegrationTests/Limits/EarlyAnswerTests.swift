// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Answers that begin before the backend has ended.
@Suite(.timeLimit(.minutes(5))) struct EarlyAnswerTests {
    static let options = StackOptions([
        "pull.first_byte_after": "20ms", "pull.keep_alive_every": "20ms", "backend.idle_timeout": "1s",
        "backend.resume_attempts": "0",
    ])

    @Test(arguments: ["", "gzip"])
    func `a slow pull begins with white space and is JSON all the same`(_ coding: String) async throws {
        try await GatewayStack.with(Self.options) { stack in
            try await stack.seed(tasks: 6)
            let latch = Latch()
            stack.backend.holdStreams(with: latch)
            let request = stack.http.request(
                "GET", GatewayStack.pullTarget(),
                headers: GatewayStack.headers("ada-token", ["Accept-Encoding": coding, "Connection": "close"]))
            let bytes = try await stack.http.withConnection { connection in
                await connection.write(request)
                // The head and some white space, while no line has come yet.
                var early: [UInt8] = []
                let mark = Array("\r\n\r\n".utf8)
                while early.firstRange(of: mark).map({ early.count - $0.upperBound < 20 }) ?? true {
                    early += await connection.bytes()
                }
                await latch.open()
                return early + (await connection.rest())
            }
            let mark = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
            let head = String(decoding: bytes[..<mark.lowerBound], as: UTF8.self)
            #expect(head.hasPrefix("HTTP/1.1 200") && head.contains("Content-Encoding: gzip") == (coding == "gzip"))
            let (body, isComplete) = dechunked(bytes[mark.upperBound...])
            #expect(isComplete)
            let pulled = try PulledChanges(body: coding == "gzip" ? gunzip(body) : body)
            #expect(pulled.created["tasks"]?.count == 6)
        }
    }

    @Test func `a failure after the first byte cuts the connection`() async throws {
        try await GatewayStack.with(Self.options) { stack in
            try await stack.seed(tasks: 6)
            stack.backend.inject(.stream { $0.stallAfterLines = 3 })
            let cut = try await stack.sendPull()
            #expect(cut.status == 200 && !cut.isComplete)
            #expect(cut.body.allSatisfy { $0 == UInt8(ascii: " ") } && !cut.body.isEmpty)
            #expect(try PulledChanges(await stack.sendPull()).count > 6)
        }
    }

    @Test func `a client of HTTP 1.0 gets no white space and an honest error`() async throws {
        try await GatewayStack.with(Self.options) { stack in
            try await stack.seed(tasks: 6)
            let head = "GET \(GatewayStack.pullTarget()) HTTP/1.0\r\nAuthorization: Bearer ada-token\r\n\r\n"
            func pull() async throws -> RawAnswer {
                try await stack.http.withConnection { connection in
                    await connection.write(Array(head.utf8))
                    return try await connection.answer()
                }
            }
            stack.backend.inject(.stream { $0.stallAfterLines = 3 })
            #expect(try await pull().outcome == "502 backend.stream_broken")
            stack.backend.inject(.stream { $0.delayPerLine = 10 })
            let answer = try await pull()
            #expect(answer.status == 200 && answer.body.first == UInt8(ascii: "{"))
            #expect(answer["Transfer-Encoding"] == nil)
        }
    }
}
