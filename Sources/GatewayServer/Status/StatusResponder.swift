// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import SyncModel
import Telemetry

/// Answers `/status`, the operator's page, and its style sheet.
final class StatusResponder: Sendable {
    /// The paths.
    enum Page: String {
        case page = "/status"
        case style = "/status.css"
    }

    /// The time for which what the state has said is shown again.
    private static let freshness = Duration.seconds(5)

    private struct Known {
        var service: any SyncService
        var origin: ConfigurationOrigin?
        var status: (value: GatewayStatus, at: ContinuousClock.Instant)?
    }

    private let known: NIOLockedValueBox<Known>
    private let metrics: GatewayMetrics
    private let requests: OpenRequests
    private let connections: ConnectionCount

    init(
        service: any SyncService, origin: ConfigurationOrigin?, metrics: GatewayMetrics, requests: OpenRequests,
        connections: ConnectionCount
    ) {
        known = NIOLockedValueBox(Known(service: service, origin: origin))
        self.metrics = metrics
        self.requests = requests
        self.connections = connections
    }

    /// Shows another gateway from now on.
    func replace(service: any SyncService) {
        known.withLockedValue { $0 = Known(service: service, origin: $0.origin) }
    }

    /// Shows another origin of the configuration from now on.
    func replace(origin: ConfigurationOrigin) { known.withLockedValue { $0.origin = origin } }

    /// Shows that the configuration was read again and refused, until it is replaced.
    func refuseReload(at now: Instant) { known.withLockedValue { $0.origin?.refusedAt = now } }

    /// Answers with the page or its style sheet.
    func respond(_ page: Page, to request: IncomingRequest, with stream: AnswerStream) async throws {
        guard request.method == .get || request.method == .head else { throw RequestFailure(allowed: ["GET", "HEAD"]) }
        var fields = HTTPFields()
        for (name, value) in Self.guards {
            guard let name = HTTPField.Name(name) else { continue }
            fields[name] = value
        }
        switch page {
        case .style:
            fields[.contentType] = "text/css; charset=utf-8"
            fields[.cacheControl] = "max-age=3600"
            try await stream.send(200, fields, body: ByteBuffer(string: StatusStyle.text))
        case .page:
            fields[.contentType] = "text/html; charset=utf-8"
            fields[.cacheControl] = "no-store"
            try await stream.send(200, fields, body: ByteBuffer(string: StatusPage(await facts()).text))
        }
    }

    /// The fields by which nothing is loaded but the style sheet, nothing runs, and no other page frames it.
    private static let guards = [
        "Content-Security-Policy":
            "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    ]

    private func facts() async -> StatusFacts {
        let (service, origin) = known.withLockedValue { ($0.service, $0.origin) }
        var facts = StatusFacts(now: SystemClock().now)
        facts.origin = origin
        facts.service = await status(of: service)
        facts.isDraining = requests.isDraining
        facts.requests = requests.count
        facts.connections = (connections.open, connections.limit)
        let recent = metrics.recentSyncs
        facts.lastMinute = recent.lastMinute(at: facts.now.milliseconds)
        facts.minutes = recent.lastHour(at: facts.now.milliseconds)
        facts.slowest = recent.slowest(at: facts.now.milliseconds)
        facts.failures = recent.failures
        facts.conflicts = metrics.values(of: .conflicts).map { ($0.labels.first ?? "", Int($0.value)) }
        return facts
    }

    private func status(of service: any SyncService) async -> GatewayStatus {
        let now = ContinuousClock.now
        if let status = known.withLockedValue(\.status), now - status.at < Self.freshness { return status.value }
        let value = await service.status()
        known.withLockedValue { $0.status = (value, now) }
        return value
    }
}
