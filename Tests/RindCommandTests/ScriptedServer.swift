// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Answers requests on a loopback port as a script says, one on each connection.
struct ScriptedServer: Sendable {
    /// What came: the method, the path and whether a credential was there that is not made up.
    struct Request: Hashable, Sendable {
        var method: String
        var path: String
        var isSignedIn: Bool
    }

    struct Answer: Sendable {
        var status = "200 OK"
        var fields: [String] = []
        var body = ""

        static func json(_ body: String) -> Answer { Answer(fields: ["Content-Type: application/json"], body: body) }
        static func page(_ status: String = "200 OK") -> Answer {
            Answer(
                status: status, fields: ["Content-Type: text/html; charset=utf-8"],
                body: "<!DOCTYPE html><title>Welcome</title>")
        }
        static func status(_ status: String, _ fields: String...) -> Answer {
            Answer(status: status, fields: ["Content-Type: application/json"] + fields, body: #"{"message":"no"}"#)
        }
    }

    typealias Script = @Sendable (_ request: Request, _ head: String, _ body: String) -> Answer

    let port: Int
    private let seen: NIOLockedValueBox<[Request]>

    var url: String { "http://127.0.0.1:\(port)" }
    /// What has come so far.
    var requests: [Request] { seen.withLockedValue(\.self) }

    /// Lets the body use a server, and ends it.
    static func with<R>(
        _ script: @escaping @Sendable (Request) -> Answer, _ body: (ScriptedServer) async throws -> R
    ) async throws -> R {
        try await with(reading: { request, _, _ in script(request) }, body)
    }

    /// Answers a push as a backend does that knows no table.
    @Sendable static func refusePush(_ body: String) -> Answer {
        guard !body.isEmpty else { return .json(#"{"results":[]}"#) }
        let results = #"{"results":[{"line":0,"outcome":"rejected"}]}"#
        return Answer(status: "422 No", fields: ["Content-Type: application/json"], body: results)
    }

    /// The same with a script that also reads the head and the body of requests; pushes have their own.
    static func with<R>(
        reading others: @escaping Script, pushes: @escaping @Sendable (String) -> Answer = refusePush,
        _ body: (ScriptedServer) async throws -> R
    ) async throws -> R {
        let script: Script = { request, head, body in
            request.path == "/sync/push" ? pushes(body) : others(request, head, body)
        }
        let seen = NIOLockedValueBox<[Request]>([])
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Responder(script, seen))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let result: Result<R, any Error>
        do {
            result = .success(try await body(ScriptedServer(port: channel.localAddress?.port ?? 0, seen: seen)))
        } catch { result = .failure(error) }
        try await channel.close()
        return try result.get()
    }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let script: Script
        private let seen: NIOLockedValueBox<[Request]>
        private var received = ""

        init(_ script: @escaping Script, _ seen: NIOLockedValueBox<[Request]>) {
            self.script = script
            self.seen = seen
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            guard let end = received.firstRange(of: "\r\n\r\n") else { return }
            let head = received[..<end.lowerBound]
            let length = head.lowercased().firstMatch(of: #/content-length: (\d+)/#).flatMap { Int($0.1) } ?? 0
            guard received[end.upperBound...].utf8.count >= length else { return }
            let words = head.split(separator: " ", maxSplits: 2)
            let request = Request(
                method: String(words[0]), path: String(words[1]),
                isSignedIn: head.lowercased().contains(/\r\nauthorization: (?!.*rind-check-)/))
            seen.withLockedValue { $0.append(request) }
            let answer = script(request, String(head), String(received[end.upperBound...]))
            let lines =
                ["HTTP/1.1 \(answer.status)", "Content-Length: \(answer.body.utf8.count)", "Connection: close"]
                + answer.fields
            let channel = context.channel
            channel.writeAndFlush(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n" + answer.body))
                .whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
