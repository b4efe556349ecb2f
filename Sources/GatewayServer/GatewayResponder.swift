// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import HTTPTypes
import Logging
import NIOCore
import SyncModel
import Telemetry
import WatermelonWire

/// Decides who serves a request, answers every error, and logs a line for every request.
///
/// A class, so that a request holds the configuration that it began with by one reference.
final class GatewayResponder: RequestResponder {
    let sync: SyncResponder
    let proxy: ReverseProxy
    let health: HealthResponder
    let origins: CrossOriginRules
    /// Limits the requests of each client; nil for no limit.
    private let rates: RateLimiter<IPAddress>?
    private let start = ContinuousClock.now
    /// The proxies that are believed.
    let proxies: TrustedProxies
    let requests: OpenRequests
    let metrics: GatewayMetrics
    let logger: Logger

    /// Creates a responder by a configuration.
    init(
        service: any SyncService, configuration: Configuration, passThrough: PassThroughReactors,
        pushMemory: ByteBudget, tunnels: Tunnels, requests: OpenRequests, metrics: GatewayMetrics, logger: Logger
    ) {
        rates = RateLimiter(
            perMinute: configuration.limits.clientRate, burst: configuration.limits.clientBurst)
        proxies = TrustedProxies(configuration.gateway.trustedProxies)
        origins = CrossOriginRules(origins: configuration.gateway.corsOrigins)
        health = HealthResponder(service: service, requests: requests)
        sync = SyncResponder(
            service: service,
            collector: BodyCollector(
                limit: configuration.limits.body, inflatedLimit: configuration.limits.inflatedBody),
            budget: pushMemory, bodyTime: configuration.limits.bodyTime,
            patience: .init(
                firstByteAfter: configuration.pull.firstByteAfter, keepAliveEvery: configuration.pull.keepAliveEvery),
            origins: origins)
        proxy = ReverseProxy(
            reactors: passThrough, backend: configuration.backend, limits: configuration.limits, tunnels: tunnels,
            clientTunnels: configuration.limits.tunnelsPerClient ?? max(1, tunnels.limit / 2), metrics: metrics,
            callerField: configuration.identity.proxyField.flatMap { HTTPField.Name($0) },
            denied: DenyRules(backend: configuration.backend, streamPush: configuration.push.path),
            replacesCrossOrigin: origins.isOn)
        self.requests = requests
        self.metrics = metrics
        self.logger = logger
    }

    func refusal(of request: IncomingRequest) -> GatewayFault? { sync.refusal(of: request) }

    func reads(_ field: String, at path: Substring) -> Bool { sync.reads(field, at: path) }

    func respond(to request: IncomingRequest, with stream: AnswerStream) async throws {
        var record = RequestRecord(request, logger: logger, metrics: metrics)
        let number = requests.enter(
            OpenRequests.Request(
                method: request.method.rawValue, path: record.shownPath(whole: isOwn(request.path)), id: request.id))
        defer { requests.leave(number) }
        stream.commonFields = origins.answerFields(for: request.fields)
        stream.commonFields[.requestID] = request.id
        do {
            try await route(request, number, on: stream, record: &record)
        } catch {
            try await fail(error, request, on: stream, record: &record)
        }
        record.write(stream)
    }

    /// Returns true if the path is one of the gateway's own, which has no secret in it.
    private func isOwn(_ path: Substring) -> Bool {
        HealthResponder.Probe(path: path) != nil || sync.service.dialect.route(String(path)) != nil
    }

    private func route(
        _ request: IncomingRequest, _ number: UInt64, on stream: AnswerStream, record: inout RequestRecord
    ) async throws {
        if request.method == .options, request.target == "*" { return try await stream.send(204) }
        try RequestTarget.check(request.target)
        try Self.check(request)
        if let probe = HealthResponder.Probe(path: request.path) {
            record.isProbe = true
            return try await health.respond(probe, to: request, with: stream)
        }
        if let rates, let client = request.client.flatMap({ IPAddress($0) }) {
            try rates.admit(client.network, at: ContinuousClock.now - start)
        }
        let route = sync.service.dialect.route(String(request.path))
        if origins.isOn, CrossOriginRules.isPreflight(request.method, request.fields) {
            let methods = route?.allowedMethods ?? ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
            return try await stream.send(204, origins.preflightFields(for: request.fields, methods: methods))
        }
        guard let route else {
            record.tunnel = proxy.tunnel(for: request, number, in: requests)
            return try await proxy.forward(request, through: record.tunnel, to: stream)
        }
        if request.method == .options {
            let methods = (route.allowedMethods + ["OPTIONS"]).joined(separator: ", ")
            return try await stream.send(204, [.allow: methods])
        }
        record.isSync = true
        let trace = SyncTrace(parent: record.traceParent)
        record.trace = trace
        if let refusal = request.refusal {
            SyncTrace.$current.withValue(trace) { SyncTrace.note { $0.kind = .pull } }
            throw refusal
        }
        let logger = record.logger
        record.figures = try await SyncTrace.$current.withValue(trace) {
            try await sync.respond(route, to: request, with: stream, logger: logger)
        }
    }

    /// Checks the rules of HTTP/1.1 that apply to a request of any path.
    private static func check(_ request: IncomingRequest) throws {
        let hosts = request.fields[values: .hostName]
        guard hosts.count == 1 || (hosts.isEmpty && !request.isModern) else { throw GatewayFault.hostMissing }
        guard request.method != .connect else { throw GatewayFault.targetInvalid }
        // A backend that answers TRACE would return the credential to its sender (RFC 9110, 9.3.8).
        guard request.method != .trace else {
            throw RequestFailure(allowed: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        }
    }

    private func fail(
        _ error: any Error, _ request: IncomingRequest, on stream: AnswerStream, record: inout RequestRecord
    ) async throws {
        if let tunnel = record.tunnel, tunnel.isOpen {
            // The tunnel's own end has the reason.
            record.cause = "\(error)"
            record.write(stream)
            throw error
        }
        let end = request.connection.end(behind: error)
        let isAlone = end != nil
        let failure = RequestFailure(behind: end ?? error)
        record.failure = failure.error
        record.cause = failure.error.cause ?? "\(error)"
        guard !isAlone, !stream.hasBegun else {
            record.write(stream)
            throw error
        }
        let answer = FailureAnswer(
            failure.error, requestID: request.id, accept: request.fields[.accept], extra: failure.fields)
        do {
            try await stream.send(failure.error.status, answer.fields, body: answer.body)
        } catch {
            record.write(stream)
            throw error
        }
    }
}
