// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import NIOHTTP1
import Telemetry

/// One request of a client: its head, and the body, which may still be arriving.
struct IncomingRequest: Sendable {
    /// The method.
    let method: HTTPRequest.Method
    /// The request target exactly as it was sent.
    let target: String
    /// True if the client speaks HTTP/1.1, not 1.0.
    let isModern: Bool
    /// True if the client wants to send more on this connection.
    let wantsKeepAlive: Bool
    /// The header fields.
    let fields: HTTPFields
    /// The id of the request in the log and the answer.
    let id: String
    /// The origin of the request.
    let origin: PassedFields.Origin
    /// The address of the client itself, if a trusted proxy states it; otherwise the peer's; nil if unknown.
    let client: String?
    /// The trace that the client has begun; nil if there is none.
    let traceParent: TraceParent?
    /// The body.
    let body: RequestParts
    /// The state of the connection, which reports that the client has gone.
    let connection: ConnectionState
    /// The fault with which the request is refused as soon as its head has come; nil if it is served.
    var refusal: GatewayFault?

    init(_ head: HTTPRequestHead, body: RequestParts, connection: ConnectionState) {
        // NIO's decoder knows only methods that are tokens.
        method = HTTPRequest.Method(rawValue: head.method.rawValue) ?? .get
        target = head.uri
        isModern = head.version.minor >= 1
        // The decoder reads nothing after a request that asks for another protocol.
        wantsKeepAlive = head.isKeepAlive && head.version.minor >= 1 && !head.headers.contains(name: "upgrade")
        var fields = HTTPFields()
        var (parent, state): (String?, String?)
        var statesOrigin = false
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            switch name.canonicalName {
            case "traceparent": parent = value
            case "tracestate": state = value
            case "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "forwarded": statesOrigin = true
            default: break
            }
            fields.append(HTTPField(name: name, value: value))
        }
        self.fields = fields
        id = RequestID.accepted(fields[.requestID]) ?? RequestID.random()
        traceParent = TraceParent(parent, state: state)
        let peer = connection.peer
        origin = PassedFields.Origin(
            peer: peer.address, requestID: id, isTrusted: peer.isTrusted,
            stated: peer.isTrusted && statesOrigin ? StatedOrigin(fields) : StatedOrigin(), isTLS: connection.isTLS)
        client = origin.stated.addresses.flatMap(peer.proxies.client) ?? peer.address
        self.body = body
        self.connection = connection
    }

    /// The path of the target, still percent-encoded.
    var path: Substring { target.prefix { $0 != "?" } }

    /// The part after the question mark, still percent-encoded; empty if there is none.
    var query: Substring { target[path.endIndex...].dropFirst() }

    /// The announced length of the body; nil if it is chunked or missing.
    var contentLength: Int? { fields[.contentLength].flatMap { Int($0) } }

    /// True if the request has a body of any length.
    var hasBody: Bool { fields[.transferEncoding] != nil || contentLength ?? 0 > 0 }
}

extension HTTPField.Name {
    /// Names one request in the logs of all systems that handle it.
    static let requestID = known("X-Request-Id")
    /// The stable code of an error.
    static let errorCode = known("Rind-Error")
    /// Tells nginx not to hold an answer back.
    static let accelBuffering = known("X-Accel-Buffering")
    /// The host that the client asked for.
    static let hostName = known("Host")

    /// Returns a field name from code, which must be a token.
    static func known(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("the name \(text) is no token") }
        return name
    }

}
