// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import Gateway
import GatewayConfig
import HTTPTypes
import NIOCore
import Telemetry

/// Passes every request that is not for the gateway itself to the backend, and the answer back.
///
/// The client's target is appended to the backend's URL unchanged: with `url = http://host/api`, `/users?x=1` becomes
/// `http://host/api/users?x=1`. Bodies are streamed both ways unchanged, at the same time and never decompressed; a
/// slow side slows the other down. A short body is given a moment to come before a connection is chosen.
struct ReverseProxy: Sendable {
    let reactors: PassThroughReactors
    let backend: Configuration.Backend
    let limits: Configuration.Limits
    let tunnels: Tunnels
    /// The most tunnels of one address.
    let clientTunnels: Int
    let metrics: GatewayMetrics
    /// The field in which a trusted proxy says who is calling; nil if there is none.
    let callerField: HTTPField.Name?
    let denied: DenyRules
    /// True if the gateway sets the cross-origin fields itself.
    let replacesCrossOrigin: Bool

    /// Passes one request through.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - tunnel: What becomes of it if the backend switches protocols as it asks; nil if it does not ask.
    ///   - stream: The answer.
    /// - Throws: `GatewayFault`, `CurlError`, or the errors of reading the client's request. If the answer has begun by
    ///   then, the connection must be cut.
    func forward(_ request: IncomingRequest, through tunnel: Tunnel?, to stream: AnswerStream) async throws {
        guard !denied.denies(request.path) else { throw GatewayFault.deniedPath }
        try RequestTarget.checkUnambiguous(request.path)
        guard backend.passThrough else { throw GatewayFault.noPassThrough }
        if let callerField, !request.origin.isTrusted, request.fields[callerField] != nil {
            throw GatewayFault.untrustedPeer
        }
        let fields = PassedFields.toBackend(
            request.fields, from: request.origin,
            proxyFields: backend.proxyFields, callerField: callerField?.canonicalName)
        let total = backend.totalTimeout == .zero ? nil : backend.totalTimeout
        let passed = CurlRequest(
            method: request.method, url: backend.url.description + request.target, fields: fields,
            timeouts: CurlTimeouts(
                connect: backend.connectTimeout, firstByte: backend.firstByteTimeout, idle: backend.idleTimeout,
                total: total))
        if let tunnel { return try await forward(passed, of: request, through: tunnel, to: stream) }
        guard request.hasBody, request.method != .head else {
            return try await pass(passed, by: reactors.requests, to: stream)
        }
        try await request.body.invite()
        if let length = request.contentLength, length <= ShortBody.limit {
            try await forwardShort(passed, length: length, of: request, to: stream)
        } else {
            let parts = request.body
            try await pass(
                passed.with(AsyncThrowingStream { try await parts.nextBody() }, length: request.contentLength),
                by: reactors.uploads, to: stream)
        }
    }

    /// Passes a request with a short body through, on a connection for requests if all of the body has come.
    private func forwardShort(
        _ passed: CurlRequest, length: Int, of request: IncomingRequest, to stream: AnswerStream
    ) async throws {
        let body = ShortBody()
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { await body.read(from: request.body) }
            group.addTask { await body.limitWait() }
            let reactor = await body.isWhole ? reactors.requests : reactors.uploads
            try await pass(passed.with(body.pieces, length: length), by: reactor, to: stream)
        }
    }

    private func pass(_ passed: CurlRequest, by reactor: CurlReactor, to stream: AnswerStream) async throws {
        try await reactor.perform(passed) { response in try await answer(response, to: stream) }
    }

    /// Passes the backend's answer on.
    func answer(_ response: CurlResponse, to stream: AnswerStream) async throws {
        try await stream.begin(
            response.status.code,
            PassedFields.toClient(response.fields, replacingCrossOrigin: replacesCrossOrigin),
            length: response.fields[.contentLength].flatMap { Int($0) })
        for try await piece in response.body { try await stream.write(piece) }
        try await stream.finish()
    }
}

extension CurlRequest {
    /// Returns the request with a body that is sent as its pieces come; chunked if the length is nil.
    fileprivate func with(_ pieces: AsyncThrowingStream<ByteBuffer, any Error>, length: Int?) -> CurlRequest {
        var request = self
        request.body = .stream(length: length.map(Int64.init)) { writer in
            for try await piece in pieces {
                do {
                    try await writer.write(piece)
                } catch CurlError.closed {
                    // The backend has answered without waiting for the whole body; its answer has the reason.
                    return
                }
            }
        }
        return request
    }
}
