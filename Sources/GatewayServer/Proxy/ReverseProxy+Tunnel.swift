// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import GatewayConfig
import HTTPTypes

// Passes requests that ask for another protocol.
extension ReverseProxy {
    /// Makes the tunnel that a request may become.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - number: Its number among the open ones.
    ///   - requests: The open requests.
    /// - Returns: The tunnel; nil if the request asks for none, or none pass.
    func tunnel(for request: IncomingRequest, _ number: UInt64, in requests: OpenRequests) -> Tunnel? {
        guard tunnels.limit > 0, backend.passThrough, UpgradeOffer(request) != nil else { return nil }
        return Tunnel(of: number, in: requests, idle: limits.tunnelIdle, metrics: metrics)
    }

    /// Passes one through, and joins the connections if the backend agrees; otherwise its answer is like any other.
    func forward(_ passed: CurlRequest, of request: IncomingRequest, through tunnel: Tunnel, to stream: AnswerStream)
        async throws
    {
        guard let offer = UpgradeOffer(request) else { return }
        var passed = passed
        passed.upgrade = offer.protocols
        let parts = request.body
        passed.body = .stream(length: nil) { writer in try await tunnel.sendUp(from: parts, to: writer) }
        let asking = passed
        try await tunnels.withPermit(
            for: request.client.flatMap { IPAddress($0) }, clientLimit: clientTunnels
        ) {
            try await reactors.tunnels.perform(asking) { response in
                guard response.status == .switchingProtocols else { return try await answer(response, to: stream) }
                var head = PassedFields.toClient(response.fields, replacingCrossOrigin: replacesCrossOrigin)
                head[.upgrade] = response.fields[.upgrade]
                head[.connection] = "Upgrade"
                try await tunnel.run(response, of: request, on: stream, head: head)
            }
        }
    }
}
