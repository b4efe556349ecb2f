// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gateway
import GatewayConfig
import GatewayServer
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import SyncModel
import Telemetry
import WatermelonWire

enum Support {
    /// The defaults, with a backend on this machine.
    static func configuration(backendPort: Int = 1, basePath: String = "", denied: [String] = []) -> Configuration {
        let url = BaseURL(isTLS: false, host: "127.0.0.1", port: backendPort, path: basePath)
        var configuration = Configuration(
            identity: .init(principal: .bearer, key: Secret(bytes: Array(repeating: 7, count: 32))),
            backend: .init(url: url), schema: Schema(tables: []))
        configuration.gateway.listen = ListenAddress(host: "127.0.0.1", port: 0)
        configuration.gateway.shutdownGrace = .seconds(5)
        configuration.backend.deniedPaths = denied.compactMap { PathPattern($0) }
        return configuration
    }

    /// The defaults, changed.
    static func changed(_ change: (inout Configuration) -> Void) -> Configuration {
        var configuration = configuration()
        change(&configuration)
        return configuration
    }

    /// Runs a server around `body`, which gets its port.
    static func withServer(
        _ service: StubService = StubService(), _ configuration: Configuration = configuration(),
        limits: ServerLimits = ServerLimits(), log: LogLines = LogLines(), metrics: GatewayMetrics = GatewayMetrics(),
        _ body: @Sendable (Int) async throws -> Void
    ) async throws {
        let passThrough = try PassThroughReactors.start(configuration)
        let (ports, announce) = AsyncStream.makeStream(of: Int.self)
        let server = GatewayHTTPServer(
            service: service, configuration: configuration, passThrough: passThrough, limits: limits, metrics: metrics,
            logger: log.logger
        ) { listener, port in
            if listener == .clients { announce.yield(port) }
        }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                for await port in ports {
                    try await body(port)
                    break
                }
                group.cancelAll()
            }
        } catch {
            await passThrough.shutdown()
            throw error
        }
        await passThrough.shutdown()
    }
}

/// A sync service that does what a test says.
struct StubService: SyncService {
    var dialect = WireDialect()
    var hasRoomForPulls = true
    var onPull: @Sendable (PullRequest, Caller) async throws -> StubPull = { _, _ in StubPull(["{}"]) }
    var onPush: @Sendable (PushRequest, Caller) async throws -> StubPush = { _, _ in StubPush() }
    var onReadiness: @Sendable () async throws -> Void = {}

    var onAdmit: @Sendable (Caller) async throws -> Void = { _ in }

    func checkReadiness() async throws { try await onReadiness() }
    func forwards(_ field: String) -> Bool { ["authorization", "x-user"].contains(field) }
    func admit(_ caller: Caller) async throws -> String {
        try await onAdmit(caller)
        return caller.fields[.authorization] ?? "somebody"
    }
    func pull(_ request: PullRequest, caller: Caller) async throws -> StubPull { try await onPull(request, caller) }
    func push(_ request: PushRequest, caller: Caller) async throws -> StubPush { try await onPush(request, caller) }
}

struct StubPull: PullReply {
    var pieces: [[UInt8]]
    var failure: (any Error)?
    var figures = SyncFigures()
    let contentType = AnswerWriter.contentType

    init(_ pieces: [String], failure: (any Error)? = nil) {
        self.pieces = pieces.map { Array($0.utf8) }
        self.failure = failure
        figures.mode = "incremental"
        figures.lines = 3
    }

    func write(to sink: some AnswerSink) async throws {
        for piece in pieces {
            _ = try await sink.waitForRoom(for: nil)
            try await sink.write(piece)
        }
        if let failure { throw failure }
    }
}

struct StubPush: PushReply {
    var figures = SyncFigures()
    var status = 200
    let contentType = AnswerWriter.contentType
    var body = Array("{}".utf8)
}

/// The lines that a server logs.
final class LogLines: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var metadata: [String: String]
    }

    private let box = NIOLockedValueBox<[Line]>([])
    var lines: [Line] { box.withLockedValue { $0 } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(lines: self) }
        logger.logLevel = .debug
        return logger
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let merged = metadata.merging(event.metadata ?? [:]) { _, own in own }
            let line = Line(
                level: event.level, message: "\(event.message)", metadata: merged.mapValues { "\($0)" })
            lines.box.withLockedValue { $0.append(line) }
        }
    }
}

/// Opens once; whoever waits goes on then.
final class Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    /// Waits; throws where the task is cancelled; one task only.
    func wait() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
