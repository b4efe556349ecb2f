// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway

/// Serves the requests of a listener.
protocol RequestResponder: Sendable {
    /// Returns the fault with which a request is refused as soon as its head has come; nil if it is served.
    ///
    /// The caller puts it into the request. ``respond(to:with:)`` then waits for nothing but the client.
    func refusal(of request: IncomingRequest) -> GatewayFault?

    /// Returns true if a header field, named in small letters, may decide anything about a request at a path, or is
    /// passed on.
    func reads(_ field: String, at path: Substring) -> Bool

    /// Serves one request.
    ///
    /// - Throws: An error if an answer has begun and cannot be ended: the connection must be cut then.
    func respond(to request: IncomingRequest, with stream: AnswerStream) async throws
}

extension RequestResponder {
    /// Refuses nothing.
    func refusal(of request: IncomingRequest) -> GatewayFault? { nil }

    /// Reads every field.
    func reads(_ field: String, at path: Substring) -> Bool { true }
}
