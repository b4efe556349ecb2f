// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import SyncModel
import Telemetry

/// Answers `/metrics`.
final class MetricsResponder: Sendable {
    static let path = "/metrics"
    /// The least time between two questions to the state.
    private static let pause = Duration.seconds(30)

    private let metrics: GatewayMetrics
    private let service: NIOLockedValueBox<any SyncService>
    private let requests: OpenRequests
    private let connections: ConnectionCount
    private let tunnels: Tunnels
    private let certificate: CurrentCertificate
    private let lastQuestion = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    init(
        metrics: GatewayMetrics, service: any SyncService, requests: OpenRequests, connections: ConnectionCount,
        tunnels: Tunnels, certificate: CurrentCertificate
    ) {
        self.certificate = certificate
        self.metrics = metrics
        self.service = NIOLockedValueBox(service)
        self.requests = requests
        self.connections = connections
        self.tunnels = tunnels
    }

    /// Answers with the readings of another service from now on.
    func replace(service: any SyncService) { self.service.withLockedValue { $0 = service } }

    /// Answers with all metrics.
    func respond(to request: IncomingRequest, with stream: AnswerStream) async throws {
        guard request.method == .get || request.method == .head else { throw RequestFailure(allowed: ["GET", "HEAD"]) }
        let service = service.withLockedValue { $0 }
        metrics.set(await service.readings(deep: isQuestionDue()))
        metrics.set(ProcessReadings.all)
        metrics.set([
            MetricReading(.requestsRunning, Double(requests.count)),
            MetricReading(.draining, requests.isDraining ? 1 : 0),
            MetricReading(.connections, Double(connections.open)),
            MetricReading(.connectionLimit, Double(connections.limit)),
            MetricReading(.tunnelsOpen, Double(requests.tunnels)),
            MetricReading(.tunnelLimit, Double(tunnels.limit)),
            MetricReading(.certificateExpiry, certificate.now.map { Double($0.expiry.milliseconds / 1_000) }),
        ])
        var fields = HTTPFields()
        fields[.contentType] = PrometheusRegistry.contentType
        fields[.cacheControl] = "no-store"
        try await stream.send(200, fields, body: ByteBuffer(string: metrics.text()))
    }

    private func isQuestionDue() -> Bool {
        let now = ContinuousClock.now
        return lastQuestion.withLockedValue { last in
            if let last, now - last < Self.pause { return false }
            last = now
            return true
        }
    }
}
