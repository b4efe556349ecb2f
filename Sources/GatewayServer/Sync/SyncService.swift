// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Gateway
package import Telemetry
package import WatermelonWire

/// The service behind the server: the gateway, or a substitute for tests of the server alone.
package protocol SyncService: Sendable {
    /// The answer to a pull.
    associatedtype Pull: PullReply
    /// The answer to a push.
    associatedtype Push: PushReply
    /// The names and paths that clients use.
    var dialect: WireDialect { get }
    /// Throws if no request at all can be served.
    func checkReadiness() async throws
    /// Returns the gauges of the metrics, those of the state only if `deep` is true.
    func readings(deep: Bool) async -> [MetricReading]
    /// Returns what the operator's page shows of backend, state and devices.
    func status() async -> GatewayStatus
    /// Returns true if a header field of syncs, named in small letters, goes to the backend.
    func forwards(_ field: String) -> Bool
    /// False if no pull can begin at this moment, whoever sends it.
    var hasRoomForPulls: Bool { get }
    /// Checks that the backend accepts the caller, before more than a small body is taken from them.
    ///
    /// - Returns: A name for the caller, to which the memory of their requests is assigned.
    func admit(_ caller: Caller) async throws -> String
    /// Serves one pull; cancelled if the client disconnects.
    func pull(_ request: PullRequest, caller: Caller) async throws -> Pull
    /// Serves one push; not cancelled if the client disconnects.
    func push(_ request: PushRequest, caller: Caller) async throws -> Push
}

/// A pull that is committed and may be sent.
package protocol PullReply: Sendable {
    /// The figures of the sync.
    var figures: SyncFigures { get }
    /// The body's type.
    var contentType: String { get }
    /// Passes the body to `sink` piece by piece; once.
    func write(to sink: some AnswerSink) async throws
}

/// A push that was processed.
package protocol PushReply: Sendable {
    /// The figures of the sync.
    var figures: SyncFigures { get }
    /// The HTTP status.
    var status: Int { get }
    /// The body's type.
    var contentType: String { get }
    /// The body.
    var body: [UInt8] { get }
}

extension SyncService {
    /// Reads nothing.
    package func readings(deep: Bool) async -> [MetricReading] { [] }

    /// Knows nothing.
    package func status() async -> GatewayStatus { GatewayStatus() }
}

extension PullAnswer: PullReply {}
extension PushAnswer: PushReply {}

extension SyncGateway: SyncService {
    /// Reads the gauges of the gateway, and those of its state.
    package func readings(deep: Bool) async -> [MetricReading] {
        deep ? readings + (await stateReadings()) : readings
    }

    /// Checks the state, and the clock against the newest cursor in it.
    package func checkReadiness() async throws {
        try await checkState()
        try await checkClock()
    }
}
