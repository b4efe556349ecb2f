// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import GatewayTesting
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import SyncModel
import Testing

/// A backend on a real socket that does what the test says, and remembers what it was asked.
struct ScriptedBackend: Sendable {
    let client: BackendClient
    let log: LogMemory
    private let memory: NIOLockedValueBox<[Peer.Request]>

    /// All requests so far, in their order.
    var requests: [Peer.Request] { memory.withLockedValue { $0 } }

    /// Runs `body` with a client of a backend that answers with `answer`.
    static func run(
        _ adjust: @Sendable (inout BackendSettings) -> Void = { _ in },
        answer: @escaping @Sendable (Peer.Request, Peer) async throws -> Void,
        _ body: (ScriptedBackend) async throws -> Void
    ) async throws {
        let memory = NIOLockedValueBox<[Peer.Request]>([])
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() {
                memory.withLockedValue { $0.append(request) }
                try await answer(request, peer)
            }
        } _: { server in
            let reactor = try CurlReactor.start()
            var settings = BackendSettings.immich(server.url + "/api/")
            adjust(&settings)
            let log = LogMemory()
            let logger = Logger(label: "test") { _ in log }
            let backend = ScriptedBackend(
                client: BackendClient(
                    settings: settings, transport: reactor, clock: PlainClock(), logger: logger), log: log,
                memory: memory)
            do {
                try await body(backend)
                await reactor.shutdown()
            } catch {
                await reactor.shutdown()
                throw error
            }
        }
    }

    /// Runs `body` with a client of a backend that gives one answer to everything.
    static func run(
        _ adjust: @Sendable (inout BackendSettings) -> Void = { _ in },
        answer: Answer, _ body: (ScriptedBackend) async throws -> Void
    ) async throws {
        try await run(adjust, answer: { _, peer in try await peer.write(answer.bytes) }, body)
    }
}

/// An answer with its length.
struct Answer: Sendable, CustomTestStringConvertible {
    var status = "200 OK"
    var fields: [String] = []
    var body = ""

    var bytes: String {
        "HTTP/1.1 \(status)\r\n" + fields.map { "\($0)\r\n" }.joined() + "Content-Length: \(body.utf8.count)\r\n\r\n"
            + body
    }
    var testDescription: String { "\(status) \(body.prefix(60))" }
}

extension BackendSettings {
    /// The calls of the annotated sample configuration.
    static func immich(_ url: String) -> BackendSettings {
        func call(_ method: String, _ target: String, _ member: String? = nil, _ value: String = "") -> Call {
            var call = Call(method: method, target: [.text(target)])
            if let member { call.body = .object([.init(name: member, value: .value(value))]) }
            return call
        }
        var settings = BackendSettings(baseURL: url, stream: call("POST", "/sync/stream", "types", "types"))
        settings.acknowledge = call("POST", "/sync/ack", "acks", "acks")
        settings.list = call("GET", "/sync/ack")
        settings.forget = call("DELETE", "/sync/ack", "types", "namespaces")
        settings.streamPush = call("POST", "/sync/push")
        return settings
    }
}

/// Whoever calls in these tests.
let caller = ForwardingRule(listed: ["authorization"]).credentials(
    of: [.authorization: "Bearer secret-token"], isPeerTrusted: false)

/// Keeps what is logged.
final class LogMemory: LogHandler {
    struct Entry: Sendable {
        var level: Logger.Level
        var text: String
    }

    private let memory = NIOLockedValueBox<[Entry]>([])

    var entries: [Entry] { memory.withLockedValue { $0 } }
    var metadata: Logger.Metadata {
        get { [:] }
        set { _ = newValue }
    }
    var logLevel: Logger.Level {
        get { .trace }
        set { _ = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set { _ = newValue }
    }

    func log(event: LogEvent) {
        let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        memory.withLockedValue {
            $0.append(Entry(level: event.level, text: "\(event.message) \(values.joined(separator: " "))"))
        }
    }
}

extension Peer.Request {
    var text: String { String(buffer: body) }

    /// The value of a header field; nil where there is none.
    func field(_ name: String) -> String? {
        for line in head.split(separator: "\r\n").dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == name.lowercased() {
                return String(parts[1].drop { $0 == " " })
            }
        }
        return nil
    }
}

/// Waits in real time; what time it is nobody asks.
struct PlainClock: WallClock {
    let now: Instant = 0
    func sleep(milliseconds: Int64) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }
}
