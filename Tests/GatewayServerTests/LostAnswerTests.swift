// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayServer
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

private let request = "GET /sync?last_pulled_at=7 HTTP/1.1\r\nHost: a\r\n\r\n"

/// Answers whose client does not take them to their end.
@Suite(.timeLimit(.minutes(1))) struct LostAnswerTests {
    private static func service(pieces: Int, of size: Int = 1 << 20) -> StubService {
        StubService(onPull: { _, _ in StubPull(Array(repeating: String(repeating: "x", count: size), count: pieces)) })
    }

    /// The line of the one sync, as soon as it is there.
    private static func line(_ log: LogLines) async throws -> LogLines.Line {
        while true {
            if let line = log.lines.first(where: { $0.message == "sync" }) { return line }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// A connection that sends the request and reads nothing; its buffer is small, so that little lies in it.
    private static func silentClient(_ port: Int) async throws -> any Channel {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.socketOption(.so_rcvbuf), value: 8_192).channelOption(.autoRead, value: false)
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(ByteBuffer(string: request))
        return channel
    }

    private static func withSilentClient(_ port: Int, _ body: (any Channel) async throws -> Void) async throws {
        let channel = try await silentClient(port)
        try await body(channel)
        if channel.isActive { try? await channel.close() }
    }

    /// The shorter one fits into the system's buffers as a whole.
    @Test(arguments: [64, 1])
    func `a client that takes nothing of its answer is cut, and the log does not call it whole`(
        _ pieces: Int
    ) async throws {
        var limits = ServerLimits()
        limits.timeouts.send = .milliseconds(300)
        let log = LogLines()
        try await Support.withServer(Self.service(pieces: pieces, of: 200_000), limits: limits, log: log) { port in
            try await Self.withSilentClient(port) { _ in
                let line = try await Self.line(log)
                #expect(line.metadata["status"] == "499" && line.metadata["cut"] == "true")
                #expect(line.metadata["code"] == "request.client_too_slow")
            }
        }
    }

    @Test func `a client that goes while its answer is sent is logged as gone`() async throws {
        let log = LogLines()
        try await Support.withServer(Self.service(pieces: 64), log: log) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(request)
                _ = try await client.read(through: "\r\n\r\n")
                try await client.close()
            }
            let line = try await Self.line(log)
            #expect(line.metadata["status"] == "499" && line.metadata["cut"] == "true")
            #expect(line.metadata["code"] == "request.client_gone")
        }
    }

    @Test func `a client that goes with the end of its answer in buffers is logged as gone`() async throws {
        let log = LogLines()
        try await Support.withServer(Self.service(pieces: 1, of: 200_000), log: log) { port in
            try await Self.withSilentClient(port) { channel in
                // All of it is out, and waits for the client.
                try await Task.sleep(for: .milliseconds(100))
                #expect(!log.lines.contains { $0.message == "sync" })
                try await channel.close()
                let line = try await Self.line(log)
                #expect(line.metadata["status"] == "499" && line.metadata["code"] == "request.client_gone")
            }
        }
    }

    /// The longer one waits for room in the connection.
    @Test(arguments: [64, 1])
    func `the end of the server does not wait for a client that takes nothing`(_ pieces: Int) async throws {
        let log = LogLines()
        let client = NIOLockedValueBox<(any Channel)?>(nil)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        var service = Self.service(pieces: pieces, of: 200_000)
        service.onPull = { [onPull = service.onPull] request, caller in
            begin.yield()
            return try await onPull(request, caller)
        }
        try await Support.withServer(service, log: log) { port in
            let channel = try await Self.silentClient(port)
            client.withLockedValue { $0 = channel }
            for await _ in begun.prefix(1) {}
            // As much of it as fits is out, and waits for the client.
            try await Task.sleep(for: .milliseconds(100))
        }
        let line = try await Self.line(log)
        #expect(line.metadata["status"] == "503" && line.metadata["code"] == "request.cancelled")
        #expect(line.metadata["cut"] == "true")
        try? await client.withLockedValue(\.self)?.close()
    }

    @Test func `a client that closes its side and reads on gets its answer to the end`() async throws {
        var limits = ServerLimits()
        // Long enough for a machine that is busy with something else between two pieces.
        limits.timeouts.halfClosed = .seconds(4)
        let log = LogLines()
        try await Support.withServer(Self.service(pieces: 8), limits: limits, log: log) { port in
            try await RawClient.connect(to: port) { client in
                try await client.send(request)
                _ = try await client.read(through: "\r\n\r\n")
                client.finish()
                // Longer than such a client is waited for.
                try await Task.sleep(for: .seconds(9))
                #expect(try await client.readToEnd().utf8.count > 8 << 20)
            }
            let line = try await Self.line(log)
            #expect(line.metadata["status"] == "200" && line.metadata["cut"] == nil)
        }
    }
}
