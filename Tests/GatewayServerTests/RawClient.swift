// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import Testing

/// A client that sends bytes as a test says, and shows the bytes that come back.
struct RawClient {
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private let channel: any Channel
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    /// What has come and was not taken.
    private(set) var received = ""
    /// Whether the connection ended with an error rather than with its end.
    private(set) var wasReset = false

    /// Connects, and closes the connection after `body`.
    static func connect(to port: Int, _ body: (inout RawClient) async throws -> Void) async throws {
        try await connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port), body)
    }

    /// Connects to any kind of socket.
    static func connect(to address: SocketAddress, _ body: (inout RawClient) async throws -> Void) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(to: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            var client = RawClient(
                outbound: outbound, channel: channel.channel, inbound: inbound.makeAsyncIterator())
            try await body(&client)
        }
    }

    /// One request on a connection of its own; everything that comes until the server closes it.
    static func exchange(_ port: Int, _ request: String) async throws -> RawAnswer {
        var text = ""
        try await connect(to: port) { client in
            try await client.send(request)
            text = try await client.readToEnd()
        }
        return try RawAnswer(text)
    }

    func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    func send(_ bytes: ByteBuffer) async throws { try await outbound.write(bytes) }

    /// Sends bytes from another task, and returns when the system has taken them.
    var sender: @Sendable (ByteBuffer) async throws -> Void {
        { [channel] in try await channel.writeAndFlush($0).get() }
    }

    /// Closes the client's side only.
    func finish() { outbound.finish() }

    /// Hangs up.
    func close() async throws { try await channel.close() }

    /// Takes everything up to and with `mark`.
    mutating func read(through mark: String) async throws -> String {
        while true {
            if let range = received.range(of: mark) {
                let taken = String(received[..<range.upperBound])
                received = String(received[range.upperBound...])
                return taken
            }
            guard try await readMore() else { throw EndedEarly(received: received) }
        }
    }

    /// Takes so many bytes.
    mutating func read(count: Int) async throws -> String {
        while received.unicodeScalars.count < count {
            guard try await readMore() else { throw EndedEarly(received: received) }
        }
        let taken = String(received.unicodeScalars.prefix(count))
        received = String(received.unicodeScalars.dropFirst(count))
        return taken
    }

    /// Takes one answer that has a `Content-Length`.
    mutating func readAnswer() async throws -> RawAnswer {
        let head = try await read(through: "\r\n\r\n")
        let length = try RawAnswer(head).field("Content-Length").flatMap { Int($0) } ?? 0
        return try RawAnswer(head + (try await read(count: length)))
    }

    /// Takes one answer while it sends a piece again and again.
    mutating func readAnswer(dripping piece: String) async throws -> RawAnswer {
        try await withThrowingTaskGroup(of: Void.self) { [outbound] group in
            group.addTask {
                while !Task.isCancelled {
                    try await outbound.write(ByteBuffer(string: piece))
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            let answer = try await readAnswer()
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
            return answer
        }
    }

    /// Takes everything until the server ends the connection.
    mutating func readToEnd() async throws -> String {
        do { while try await readMore() {} } catch { wasReset = true }
        defer { received = "" }
        return received
    }

    /// Counts the bytes until the server ends the connection, and keeps none.
    mutating func countToEnd() async throws -> Int {
        var count = received.unicodeScalars.count
        do {
            while let bytes = try await inbound.next(isolation: #isolation) { count += bytes.readableBytes }
        } catch {
            wasReset = true
        }
        return count
    }

    struct EndedEarly: Error {
        var received: String
    }

    private mutating func readMore() async throws -> Bool {
        guard let bytes = try await inbound.next(isolation: #isolation) else { return false }
        // One scalar for each byte, so that compressed bodies survive; the same as UTF-8 where all is ASCII.
        let text = String(buffer: bytes)
        if text.utf8.count == bytes.readableBytes, text.unicodeScalars.count == bytes.readableBytes {
            received += text
        } else {
            received.unicodeScalars.append(contentsOf: bytes.readableBytesView.map { Unicode.Scalar($0) })
        }
        return true
    }
}

/// An answer as its bytes, one scalar for each.
struct RawAnswer {
    let status: Int
    let head: [String]
    let rest: String

    init(_ text: String) throws {
        let scalars = text.unicodeScalars
        let end = try #require(text.range(of: "\r\n\r\n"), "no head in '\(text)'")
        head = String(scalars[..<end.lowerBound]).components(separatedBy: "\r\n")
        rest = String(scalars[end.upperBound...])
        let parts = try #require(head.first).split(separator: " ")
        status = try #require(parts.count > 1 ? Int(parts[1]) : nil)
    }

    func field(_ name: String) -> String? { fields(name).first }

    func fields(_ name: String) -> [String] {
        head.dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
    }

    /// The body without its chunks; nil where they don't come to their end.
    var body: String? {
        guard field("Transfer-Encoding") == "chunked" else { return rest }
        var body = ""
        var left = rest[...]
        while true {
            guard let line = left.range(of: "\r\n"), let size = Int(left[..<line.lowerBound], radix: 16) else {
                return nil
            }
            left = left[line.upperBound...]
            if size == 0 { return left == "\r\n" ? body : nil }
            guard left.unicodeScalars.count >= size + 2 else { return nil }
            body += String(left.unicodeScalars.prefix(size))
            left = Substring(left.unicodeScalars.dropFirst(size + 2))
        }
    }

    var bodyBytes: [UInt8]? { body.map { $0.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } } }
}
