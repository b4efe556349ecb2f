// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import NIOCore
import NIOHTTP1
import NIOPosix

/// What came for a request, as far as it came.
struct Answer {
    var status = 0
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    /// Whether the answer ended as HTTP wants it.
    var isComplete = false

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: DemoValue? { DemoValue(parsing: body) }
    var lines: [Line] { body.split(separator: 0x0A).compactMap { Line(DemoValue(parsing: $0)) } }
}

/// A line of a stream.
struct Line: Equatable, CustomStringConvertible {
    var type: String
    var data: DemoValue
    var ack: String

    init?(_ value: DemoValue?) {
        guard let type = value?["type"]?.string, let data = value?["data"], let ack = value?["ack"]?.string else {
            return nil
        }
        self.type = type
        self.data = data
        self.ack = ack
    }

    var id: String { data["id"]?.string ?? data["taskId"]?.string ?? data["projectId"]?.string ?? "" }
    var description: String { "\(type) \(data.json) \(ack)" }
}

/// Speaks HTTP to a backend, one connection a request.
struct TestClient: Sendable {
    let port: Int
    var token: String? = "ada-token"

    init(_ backend: DemoBackend, token: String? = "ada-token") async throws {
        port = try await backend.port
        self.token = token
    }

    /// Sends a request and reads its answer: to its end, or until enough bytes came, or until the body has begun and
    /// nothing came for so many milliseconds.
    func send(
        _ method: String, _ path: String, body: String? = nil, headers: [String: String] = [:],
        enough: Int = .max, patience: Int64 = 20_000
    ) async throws -> Answer {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        IdleStateHandler(readTimeout: .milliseconds(patience)))
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(Impatience())
                    return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                        wrappingChannelSynchronously: channel)
                }
            }
        var headers = HTTPHeaders(headers.map { ($0.key, $0.value) })
        headers.add(name: "host", value: "127.0.0.1")
        if let token { headers.add(name: "authorization", value: "Bearer \(token)") }
        if let body { headers.add(name: "content-length", value: String(body.utf8.count)) }
        let head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method), uri: path, headers: headers)
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(.head(head))
            if let body { try await outbound.write(.body(.byteBuffer(ByteBuffer(string: body)))) }
            try await outbound.write(.end(nil))
            var answer = Answer()
            do {
                for try await part in inbound {
                    switch part {
                    case .head(let head):
                        answer.status = Int(head.status.code)
                        answer.headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
                    case .body(let buffer): answer.body += Array(buffer: buffer)
                    case .end:
                        answer.isComplete = true
                        return answer
                    }
                    if answer.body.count >= enough { return answer }
                }
            } catch {
                return answer
            }
            return answer
        }
    }

    /// The lines of a stream that ends in good order.
    func stream(_ types: String..., reset: Bool = false) async throws -> [Line] {
        try await stream(types, reset: reset)
    }

    func stream(_ types: [String], reset: Bool = false) async throws -> [Line] {
        let body: DemoValue = ["types": .array(types.map(DemoValue.string)), "reset": .bool(reset)]
        let answer = try await send("POST", "/sync/stream", body: body.json)
        guard answer.status == 200, answer.isComplete else { throw Unexpected(answer: answer) }
        return answer.lines
    }

    /// Confirms tokens.
    func ack(_ tokens: [String]) async throws {
        let body: DemoValue = ["acks": .array(tokens.map(DemoValue.string))]
        let answer = try await send("POST", "/sync/ack", body: body.json)
        guard answer.status == 204 else { throw Unexpected(answer: answer) }
    }

    /// Confirms the newest token of every namespace of these lines.
    func ack(_ lines: [Line]) async throws {
        let newest = Dictionary(lines.map { (String($0.ack.prefix { $0 != "|" }), $0.ack) }) { _, last in last }
        try await ack(newest.values.sorted())
    }

    /// Streams, confirms everything, and gives the lines but for the complete line.
    @discardableResult
    func sync(_ types: String...) async throws -> [Line] {
        let lines = try await stream(types)
        try await ack(lines)
        guard lines.last?.type == "SyncCompleteV1" else { throw Unexpected(answer: Answer()) }
        return Array(lines.dropLast())
    }

    /// Pushes operations, each a JSON object.
    func push(_ operations: [DemoValue], key: String? = nil) async throws -> Answer {
        let headers = key.map { ["idempotency-key": $0] } ?? [:]
        let body = operations.map { $0.json + "\n" }.joined()
        return try await send("POST", "/sync/push", body: body, headers: headers)
    }

    struct Unexpected: Error {
        let answer: Answer
    }
}

/// Closes a connection on which a body has begun and nothing comes any more.
private final class Impatience: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    private var hasBegun = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .body = unwrapInboundIn(data) { hasBegun = true }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if hasBegun, event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
