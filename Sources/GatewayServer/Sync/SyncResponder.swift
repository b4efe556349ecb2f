// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import HTTPTypes
import Logging
import NIOCore
import Telemetry
import WatermelonWire

/// Serves the requests on the sync paths.
struct SyncResponder: Sendable {
    /// The time that a client waits for the first byte, and for each further one, until the pull is complete.
    struct Patience: Sendable {
        /// The time until the first byte; zero waits for the whole pull.
        let firstByteAfter: Duration
        let keepAliveEvery: Duration
        private let timer: PatienceTimer

        /// Creates a patience; waits take up to an eighth longer.
        init(firstByteAfter: Duration, keepAliveEvery: Duration) {
            self.firstByteAfter = firstByteAfter
            self.keepAliveEvery = keepAliveEvery
            let step = TimeAmount(min(firstByteAfter, keepAliveEvery) / 8)
            timer = PatienceTimer(step: max(.milliseconds(10), min(step, .milliseconds(250))))
        }

        /// Waits for a part of the patience, or until the task is cancelled.
        func wait(_ time: Duration) async throws(CancellationError) { try await timer.wait(TimeAmount(time)) }
    }

    let service: any SyncService
    let collector: BodyCollector
    let budget: ByteBudget
    /// The time for a body, plus a second for each 2048 bytes received: an admitted client that sends steadily gets a
    /// large push through a slow network.
    let bodyTime: Duration
    private static let slowestSteadyBody = 2_048
    let patience: Patience
    let origins: CrossOriginRules

    /// Returns the fault of a request whose head shows a pull while no permit is free; nil for every other one.
    func refusal(of request: IncomingRequest) -> GatewayFault? {
        guard !service.hasRoomForPulls, let route = service.dialect.route(String(request.path)) else { return nil }
        let isPull = route == .pull || request.method == .get
        return isPull && route.allowedMethods.contains(request.method.rawValue) ? .pulls : nil
    }

    /// Returns false for a field of a sync that no part of the gateway reads and that is not passed on.
    func reads(_ field: String, at path: Substring) -> Bool {
        guard service.dialect.route(String(path)) != nil else { return true }
        return service.forwards(field) || ForwardingRule.never.contains(field) || field.hasPrefix("x-forwarded-")
            || ["forwarded", "authorization", "cookie"].contains(field)
            || field == service.dialect.schemaVersionField?.lowercased()
    }

    /// Serves one request.
    ///
    /// - Returns: The figures of the sync.
    /// - Throws: Any error. If the answer has begun by then, the connection must be cut.
    func respond(
        _ route: WireDialect.Route, to request: IncomingRequest, with stream: AnswerStream, logger: Logger
    ) async throws -> SyncFigures {
        guard route.allowedMethods.contains(request.method.rawValue) else {
            throw RequestFailure(allowed: route.allowedMethods)
        }
        let caller = Caller(
            fields: request.fields, requestID: request.id,
            originFields: PassedFields.originFields(of: request.fields, from: request.origin),
            isPeerTrusted: request.origin.isTrusted,
            scope: try service.dialect.scope(path: String(request.path), query: String(request.query)),
            logger: logger)
        switch try await receive(route, request, from: caller) {
        case .pull(let pull): return try await serve(pull, for: caller, request: request, on: stream)
        case .pushed(let reply): return try await send(reply, to: request, on: stream)
        }
    }

    /// The result of a request when its body is no longer needed: the client may take its answer slowly.
    private enum Received {
        case pull(PullRequest)
        case pushed(any PushReply)
    }

    /// Receives the body, and applies it if it is a push.
    private func receive(
        _ route: WireDialect.Route, _ request: IncomingRequest, from caller: Caller
    ) async throws -> Received {
        let lease = budget.lease()
        defer { withExtendedLifetime(lease) {} }
        let begun = ContinuousClock.now
        var received = 0
        let body = try await collector.collect(
            announced: request.contentLength, coding: request.fields[.contentEncoding], lease: lease,
            admit: { lease.belongs(to: try await service.admit(caller)) },
            next: {
                // Between two pieces the connection's own timer runs.
                let time = bodyTime + .seconds(received / Self.slowestSteadyBody)
                guard ContinuousClock.now - begun < time else { throw ClientTimeout() }
                let piece = try await request.body.nextBody()
                received += piece?.readableBytes ?? 0
                return piece
            })
        let dialect = service.dialect
        let version = dialect.schemaVersionField.flatMap { HTTPField.Name($0) }
        let parsed = try RequestReader(dialect: dialect).read(
            method: request.method.rawValue, route: route, query: String(request.query), body: body,
            versions: version.map { request.fields[values: $0] } ?? [])
        switch parsed {
        case .pull(let pull):
            SyncTrace.note { $0.kind = .pull }
            return .pull(pull)
        case .push(let push):
            SyncTrace.note { $0.kind = .push }
            let size = push.changes.recordCount * ByteBudget.bytesPerRecord
            if size > BodyCollector.smallLimit { lease.belongs(to: try await service.admit(caller)) }
            try lease.take(size)
            return .pushed(try await apply(push, from: caller, request))
        }
    }

    private func apply(
        _ push: PushRequest, from caller: Caller, _ request: IncomingRequest
    ) async throws -> any PushReply {
        guard !origins.isForgeable(request.fields) else { throw GatewayFault.foreignOrigin }
        // A push must not depend on a client that loses its connection meanwhile.
        try request.connection.hangUp.shield()
        return try await service.push(push, caller: caller)
    }

    private func send(
        _ reply: any PushReply, to request: IncomingRequest, on stream: AnswerStream
    ) async throws -> SyncFigures {
        let timing = SyncTrace.begin(.send)
        defer { timing.end() }
        let answer = SyncAnswer(
            stream, status: reply.status, contentType: reply.contentType,
            acceptEncoding: request.fields[.acceptEncoding])
        try await answer.write(reply.body)
        try await answer.finish()
        return reply.figures
    }

    private enum Event: Sendable {
        case complete(any PullReply)
        case wakeUp
    }

    private func serve(
        _ pull: PullRequest, for caller: Caller, request: IncomingRequest, on stream: AnswerStream
    ) async throws -> SyncFigures {
        let answer = SyncAnswer(
            stream, status: 200, contentType: AnswerWriter.contentType,
            acceptEncoding: request.fields[.acceptEncoding])
        // HTTP/1.0 cannot distinguish a body that was cut from one that ended.
        let sendsSpace = patience.firstByteAfter > .zero && request.isModern
        let reply = try await withThrowingTaskGroup(of: Event.self) { group -> any PullReply in
            group.addTask { .complete(try await service.pull(pull, caller: caller)) }
            if sendsSpace { group.addTask { try await wakeUp(after: patience.firstByteAfter) } }
            while let event = try await group.next() {
                switch event {
                case .complete(let reply):
                    group.cancelAll()
                    return reply
                case .wakeUp:
                    try await answer.sendSpace()
                    group.addTask { try await wakeUp(after: patience.keepAliveEvery) }
                }
            }
            throw CancellationError()
        }
        let timing = SyncTrace.begin(.send)
        defer { timing.end() }
        try await reply.write(to: answer)
        try await answer.finish()
        return reply.figures
    }

    private func wakeUp(after time: Duration) async throws -> Event {
        try await patience.wait(time)
        return .wakeUp
    }
}
