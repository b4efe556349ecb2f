// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gateway
import GatewayConfig
import HTTPTypes
import NIOCore

/// Passes every request that is not for the gateway itself to the backend, and the answer back.
///
/// The client's target is appended to the backend's URL unchanged: with `url = http://host/api`, `/users?x=1` becomes
/// `http://host/api/users?x=1`. Bodies are streamed both ways unchanged, at the same time and never decompressed; a
/// slow side slows the other down.
struct ReverseProxy: Sendable {
    let reactor: CurlReactor
    let backend: Configuration.Backend
    let denied: DenyRules
    /// True if the gateway sets the cross-origin fields itself.
    let replacesCrossOrigin: Bool

    /// Passes one request through.
    ///
    /// - Throws: `GatewayFault`, `CurlError`, or the errors of reading the client's request. If the answer has begun by
    ///   then, the connection must be cut.
    func forward(_ request: IncomingRequest, to stream: AnswerStream) async throws {
        guard !denied.denies(request.path) else { throw GatewayFault.deniedPath }
        try RequestTarget.checkUnambiguous(request.path)
        guard backend.passThrough else { throw GatewayFault.noPassThrough }
        let fields = PassedFields.toBackend(
            request.fields, from: .init(peer: request.peer, requestID: request.id),
            proxyFields: backend.proxyFields)
        let total = backend.totalTimeout == .zero ? nil : backend.totalTimeout
        let passed = CurlRequest(
            method: request.method, url: backend.url.description + request.target, fields: fields,
            body: Self.body(of: request),
            timeouts: CurlTimeouts(
                connect: backend.connectTimeout, firstByte: backend.firstByteTimeout, idle: backend.idleTimeout,
                total: total))
        if case .stream = passed.body { try await request.body.invite() }
        try await reactor.perform(passed) { response in
            try await stream.begin(
                response.status.code,
                PassedFields.toClient(response.fields, replacingCrossOrigin: replacesCrossOrigin),
                length: response.fields[.contentLength].flatMap { Int($0) })
            for try await piece in response.body { try await stream.write(piece) }
            try await stream.finish()
        }
    }

    private static func body(of request: IncomingRequest) -> CurlRequest.Body {
        guard request.hasBody, request.method != .head else { return .none }
        let parts = request.body
        return .stream(length: request.contentLength.map(Int64.init)) { writer in
            while let piece = try await parts.nextBody() {
                do {
                    try await writer.write(piece)
                } catch CurlError.closed {
                    // The backend has answered without waiting for the whole body; its answer has the reason.
                    return
                }
            }
        }
    }
}
