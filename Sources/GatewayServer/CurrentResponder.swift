// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// The responder that new requests get, until a reload of the configuration replaces it.
final class CurrentResponder: Sendable {
    private let box: NIOLockedValueBox<GatewayResponder>

    init(_ responder: GatewayResponder) { box = NIOLockedValueBox(responder) }

    /// The responder of a request that begins now.
    var now: GatewayResponder { box.withLockedValue { $0 } }

    /// Serves one request, to its end by the responder of its beginning.
    func respond(to request: IncomingRequest, with stream: AnswerStream) async throws {
        try await now.respond(to: request, with: stream)
    }

    /// Lets requests from now on have another responder.
    func replace(by responder: GatewayResponder) { box.withLockedValue { $0 = responder } }
}
