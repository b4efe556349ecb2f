// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import NIOConcurrencyHelpers
import Telemetry

/// Counts the tunnels of all clients, and refuses those that are too many.
final class Tunnels: Sendable {
    private struct State {
        var count = 0
        var perClient: [IPAddress: Int] = [:]
    }

    /// The most tunnels; zero if none pass.
    let limit: Int
    private let metrics: GatewayMetrics
    private let state = NIOLockedValueBox(State())

    /// Creates a count.
    init(limit: Int, metrics: GatewayMetrics) {
        self.limit = limit
        self.metrics = metrics
    }

    /// The number of tunnels, with those that the backend has not accepted yet.
    var count: Int { state.withLockedValue(\.count) }

    /// Counts a tunnel while `body` runs.
    ///
    /// - Parameters:
    ///   - client: The client's address; nil if it is unknown.
    ///   - clientLimit: The most tunnels of one address. Of an IPv6 address the first 64 bits count.
    ///   - body: Carries the tunnel to its end.
    /// - Throws: ``GatewayFault/tunnels`` or ``GatewayFault/clientTunnels`` if there are too many.
    func withPermit(for client: IPAddress?, clientLimit: Int, _ body: () async throws -> Void) async throws {
        let client = client?.network
        do {
            try enter(client, clientLimit)
        } catch {
            metrics.count(.tunnels, labels: .init(first: "refused"))
            throw error
        }
        defer { leave(client) }
        try await body()
    }

    private func enter(_ client: IPAddress?, _ clientLimit: Int) throws(GatewayFault) {
        let fault = state.withLockedValue { state -> GatewayFault? in
            guard state.count < limit else { return .tunnels }
            if let client {
                guard state.perClient[client, default: 0] < clientLimit else { return .clientTunnels }
                state.perClient[client, default: 0] += 1
            }
            state.count += 1
            return nil
        }
        if let fault { throw fault }
    }

    private func leave(_ client: IPAddress?) {
        state.withLockedValue { state in
            state.count -= 1
            guard let client, let count = state.perClient[client] else { return }
            state.perClient[client] = count > 1 ? count - 1 : nil
        }
    }
}
