// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// The header fields that pass between client and backend, both ways (RFC 9110, 7.6).
package enum PassedFields {
    /// What concerns one connection only, not the message (RFC 9110, 7.6.1), or frames it anew.
    private static let hopByHop: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    /// What a proxy that the backend trusts would say: who is calling, from where, and what for; a client may not.
    private static let spoofable: Set<String> = [
        "cf-connecting-ip", "client-ip", "fastly-client-ip", "forwarded", "remote-user", "true-client-ip",
        "x-client-ip", "x-cluster-client-ip", "x-original-host", "x-original-uri", "x-original-url", "x-real-ip",
        "x-remote-addr", "x-remote-user", "x-rewrite-url",
    ]
    private static let own = "rind"

    /// Where a request comes from.
    package struct Origin: Sendable {
        /// The address of whoever connected.
        package var peer: String?
        /// The name of the request.
        package var requestID: String

        /// An origin.
        package init(peer: String?, requestID: String) {
            self.peer = peer
            self.requestID = requestID
        }

        /// Whether the peer is on this machine: the proxy that speaks TLS, whose word is taken.
        var isLocal: Bool {
            guard let peer else { return false }
            return peer.hasPrefix("127.") || peer == "::1" || peer.hasPrefix("::ffff:127.")
        }
    }

    /// The fields of a client's request as the backend gets them.
    ///
    /// What a client says about itself in the manner of a proxy is dropped. Only a peer on this machine may add to
    /// `X-Forwarded-For` and say the client's scheme and host: the proxy that speaks TLS before the gateway.
    package static func toBackend(_ request: HTTPFields, from origin: Origin) -> HTTPFields {
        let named = connectionOptions(of: request)
        var fields = HTTPFields()
        for field in request {
            let name = field.name.canonicalName
            if hopByHop.contains(name) || named.contains(name) || spoofable.contains(name) { continue }
            if name.hasPrefix("x-forwarded-") || name == "x-request-id" { continue }
            fields.append(field)
        }
        let trusted = origin.isLocal ? request : [:]
        let chain = [trusted[.forwardedFor], origin.peer].compactMap(\.self).filter { !$0.isEmpty }
        if !chain.isEmpty { fields[.forwardedFor] = chain.joined(separator: ", ") }
        let scheme = trusted[.forwardedProto]?.lowercased() ?? ""
        fields[.forwardedProto] = ["http", "https"].contains(scheme) ? scheme : "http"
        if let host = trusted[.forwardedHost] ?? request[.hostName], !host.isEmpty { fields[.forwardedHost] = host }
        fields[.requestID] = origin.requestID
        fields[.via] = via(request)
        return fields
    }

    /// The fields of the backend's answer as the client gets them.
    ///
    /// - Parameters:
    ///   - answer: The backend's fields.
    ///   - replacingCrossOrigin: Whether the gateway tells browsers itself what they may do.
    /// - Returns: Those that are about the message, and `Via`.
    package static func toClient(_ answer: HTTPFields, replacingCrossOrigin: Bool) -> HTTPFields {
        let named = connectionOptions(of: answer)
        var fields = HTTPFields()
        for field in answer {
            let name = field.name.canonicalName
            if hopByHop.contains(name) || named.contains(name) || name == "x-request-id" { continue }
            if replacingCrossOrigin, name.hasPrefix("access-control-") { continue }
            fields.append(field)
        }
        fields[.via] = via(answer)
        return fields
    }

    /// The fields that `Connection` names.
    private static func connectionOptions(of fields: HTTPFields) -> Set<String> {
        Set((fields[.connection] ?? "").split(separator: ",").map { $0.trimmedSpaces.lowercased() })
    }

    private static func via(_ fields: HTTPFields) -> String {
        [fields[.via], "1.1 \(own)"].compactMap(\.self).joined(separator: ", ")
    }
}

extension HTTPField.Name {
    fileprivate static let forwardedFor = known("X-Forwarded-For")
    fileprivate static let forwardedProto = known("X-Forwarded-Proto")
    fileprivate static let forwardedHost = known("X-Forwarded-Host")
}
