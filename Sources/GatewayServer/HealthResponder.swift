// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import NIOCore

/// Tells whoever runs the gateway how it is.
struct HealthResponder: Sendable {
    /// The questions.
    enum Probe {
        /// Is the process alive?
        case live
        /// Can it serve requests?
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
    /// The requests of clients; while the server waits for the last of them it is not ready.
    let requests: OpenRequests

    /// Answers `ok`, or fails with the reason, which is an answer as well.
    func respond(_ probe: Probe, to request: IncomingRequest, with stream: AnswerStream) async throws {
        guard request.method == .get || request.method == .head else { throw RequestFailure(allowed: ["GET", "HEAD"]) }
        if probe == .ready {
            do {
                try checkServing()
                try await service.checkReadiness()
                // Draining may have begun while the state was asked.
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
