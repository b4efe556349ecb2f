// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import Testing

/// Whatever a client sends: the documented error, a process that lives, and a state that nothing was lost from.
@Suite(.timeLimit(.minutes(5))) struct BadRequestTests {
    /// Runs requests that must all be refused, and sees that they have left no trace.
    static func refused(
        _ options: StackOptions = StackOptions(),
        _ body: (GatewayStack, Int64) async throws -> Void
    ) async throws {
        try await GatewayStack.with(options) { stack in
            try await stack.seed(tasks: 6)
            var device = try await stack.device()
            for _ in 0..<2 { try await device.sync() }
            let cursor = try #require(device.model.lastPulledAt.map { Int64($0) })
            let before = try StateDump(path: stack.statePath, kinds: StateDump.allKinds)
            let records = try await stack.backend.records()
            stack.backend.clearRequests()

            try await body(stack, cursor)

            #expect(try StateDump(path: stack.statePath, kinds: StateDump.allKinds) == before)
            #expect(try await stack.backend.records() == records)
            #expect(!stack.backend.requests.contains { $0.path.hasPrefix("/sync") })
            #expect(try await stack.send("GET", "/readyz").status == 200)
            try device.model.create("tasks", ["name": "new", "project_id": "p-0"])
            try await stack.backend.edit(.put("tasks", ["id": "t-0", "name": "changed"]))
            for _ in 0..<2 { try await device.sync() }
            try await stack.expectEqual(device)
        }
    }

    /// The bytes of a request and what comes back.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: String
        let outcome: String

        init(_ name: String, _ bytes: String, _ outcome: String) {
            testDescription = name
            self.bytes = bytes
            self.outcome = outcome
        }

        /// A request that is right but for its head fields.
        static func fields(_ name: String, _ fields: String, _ outcome: String) -> Case {
            Case(name, "POST /sync HTTP/1.1\r\n\(fields)\r\n\r\n{}", outcome)
        }

        private static let host = "Host: a\r\nAuthorization: Bearer ada-token"

        static let requestLines = [
            Case("no HTTP", "GARBAGE\r\n\r\n", "400 request.malformed"),
            Case("no version", "GET /sync\r\nHost: a\r\n\r\n", "505 request.http_version"),
            Case("another version", "GET /sync HTTP/3.0\r\nHost: a\r\n\r\n", "505 request.http_version"),
            Case("a method that is no token", "GE(T /sync HTTP/1.1\r\nHost: a\r\n\r\n", "400 request.malformed"),
            Case("TLS", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}", "400 request.malformed"),
            Case("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 request.malformed"),
            Case(
                "a long target", "GET /sync?x=\(String(repeating: "x", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n",
                "414 request.target_too_long"),
            Case(
                "a target longer than a head",
                "GET /sync?x=\(String(repeating: "x", count: 100_000)) HTTP/1.1\r\nHost: a\r\n\r\n",
                "431 request.head_too_large"),
            Case("another method", "PATCH /sync HTTP/1.1\r\n\(host)\r\n\r\n", "405 request.method"),
            Case("a made-up method", "FLY /sync HTTP/1.1\r\n\(host)\r\n\r\n", "400 request.malformed"),
        ]

        static let heads = [
            Case.fields("no host", "Content-Length: 2", "400 request.host"),
            .fields("two hosts", "Host: a\r\nHost: b\r\nContent-Length: 2", "400 request.host"),
            .fields("two lengths", "\(host)\r\nContent-Length: 2\r\nContent-Length: 3", "400 request.malformed"),
            .fields("a length that is none", "\(host)\r\nContent-Length: two", "400 request.malformed"),
            .fields("a negative length", "\(host)\r\nContent-Length: -2", "400 request.malformed"),
            .fields(
                "two framings", "\(host)\r\nContent-Length: 2\r\nTransfer-Encoding: chunked", "400 request.malformed"),
            .fields("a length of 2^63", "\(host)\r\nContent-Length: 9223372036854775808", "400 request.malformed"),
            .fields("a length of 2^64", "\(host)\r\nContent-Length: 18446744073709551616", "400 request.malformed"),
            .fields("gzip in chunks", "\(host)\r\nTransfer-Encoding: gzip, chunked", "501 request.transfer_coding"),
            .fields(
                "identity and chunks", "\(host)\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked",
                "501 request.transfer_coding"),
            .fields("chunks twice", "\(host)\r\nTransfer-Encoding: chunked, chunked", "400 request.malformed"),
            .fields("a name that is no token", "\(host)\r\nBad Name: x\r\nContent-Length: 2", "400 request.malformed"),
            .fields("a name with a space behind", "\(host)\r\nX-Y : x\r\nContent-Length: 2", "400 request.malformed"),
            .fields("a control character", "\(host)\r\nX-Y: a\u{1}b\r\nContent-Length: 2", "400 request.malformed"),
            .fields(
                "a long field", "\(host)\r\nX-Y: \(String(repeating: "x", count: 60_000))", "431 request.head_too_large"
            ),
            .fields(
                "many fields", host + (0..<4_000).map { "\r\nX-\($0): some value" }.joined(),
                "431 request.head_too_large"),
            .fields("no credential", "Host: a\r\nContent-Length: 2", "401 request.not_signed_in"),
            .fields(
                "an empty credential", "Host: a\r\nAuthorization: \r\nContent-Length: 2", "401 request.not_signed_in"),
            .fields("brotli", "\(host)\r\nContent-Encoding: br\r\nContent-Length: 2", "415 request.encoding"),
            .fields(
                "gzip that is none", "\(host)\r\nContent-Encoding: gzip\r\nContent-Length: 2",
                "400 request.compressed_body"),
            .fields("a chunk size that is none", "\(host)\r\nTransfer-Encoding: chunked", "400 request.malformed"),
        ]
    }

    @Test func `request lines that are none are refused`() async throws {
        try await Self.refused { stack, _ in try await Self.expect(Case.requestLines, stack) }
    }

    @Test func `heads that are wrong or too large are refused`() async throws {
        try await Self.refused { stack, _ in try await Self.expect(Case.heads, stack) }
    }

    private static func expect(_ cases: [Case], _ stack: GatewayStack) async throws {
        for one in cases {
            let answer = try await stack.http.withConnection { connection in
                await connection.write(Array(one.bytes.utf8))
                connection.finishWriting()
                return try await connection.answer()
            }
            #expect(answer.outcome == one.outcome, "\(one.testDescription): \(answer)")
            #expect(answer.isComplete && answer["X-Request-Id"] != nil, "\(one.testDescription)")
        }
    }

    @Test(arguments: [
        ("last_pulled_at=yesterday", "400 request.last_pulled_at"),
        ("last_pulled_at=12&last_pulled_at=13", "400 request.last_pulled_at_twice"),
        ("last_pulled_at=%5B1%5D", "400 request.last_pulled_at"),
        ("schema_version=two", "400 request.schema_version"), ("schema_version=-1", "400 request.schema_version"),
        ("schema_version=1&schema_version=2", "400 request.schema_version"),
        ("migration=%7B", "400 request.migration"), ("migration=%5B%5D", "400 request.migration"),
        (
            "migration=%7B%22from%22%3A1%2C%22tables%22%3A%5B%22__proto__%22%5D%2C%22columns%22%3A%5B%5D%7D",
            "400 request.migration"
        ),
        (String(repeating: "&p", count: 4_100), "400 request.too_many_parameters"),
        ("schema_version=0", "400 request.schema_version"),
    ])
    func `queries that say nothing clear are refused`(_ query: String, _ outcome: String) async throws {
        try await Self.refused { stack, _ in
            let answer = try await stack.send("GET", "/sync?\(query)")
            #expect(answer.outcome == outcome)
            #expect(!answer.text.isEmpty)
        }
    }

    @Test func `an app older than the oldest schema is told so`() async throws {
        var options = StackOptions(["schema.oldest": "2", "schema.migrations_enabled_at": "2"])
        options.backend.compresses = false
        try await Self.refused(options) { stack, _ in
            let answer = try await stack.sendPull(version: 1)
            #expect(answer.outcome == "426 schema.too_old")
        }
    }
}
