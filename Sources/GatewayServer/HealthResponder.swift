// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import NIOCore

/// Answers the operator's health probes.
struct HealthResponder: Sendable {
    /// The probes.
    enum Probe {
        /// Asks whether the process is alive.
        case live
        /// Asks whether it can serve requests.
        case ready

        init?(path: some StringProtocol) {
            switch path {
            case "/livez": self = .live
            case "/readyz": self = .ready
            default: return nil
            }
        }
    }

    let service: any SyncService
    /// The requests of clients; the server is not ready while it waits for the last of them.
    let requests: OpenRequests

    /// Answers `ok`, or throws the reason, which becomes the answer.
    func respond(_ probe: Probe, to request: IncomingRequest, with stream: AnswerStream) async throws {
        guard request.method == .get || request.method == .head else { throw RequestFailure(allowed: ["GET", "HEAD"]) }
        if probe == .ready {
            do {
                try checkServing()
                try await service.checkReadiness()
                // Draining may have begun during the check of the state.
                try checkServing()
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                var failure = GatewayError(error)
                failure.status = 503
                throw failure
            }
        }
        let fields: HTTPFields = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"]
        try await stream.send(200, fields, body: ByteBuffer(string: "ok\n"))
    }

    private func checkServing() throws {
        if requests.isDraining { throw GatewayFault.draining }
    }
}
