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
    ///
    /// `Proxy` becomes the variable `HTTP_PROXY` of a CGI program (https://httpoxy.org).
    package static let spoofable: Set<String> = [
        "cf-access-authenticated-user-email", "cf-access-jwt-assertion", "cf-connecting-ip",
        "cf-connecting-ipv6", "cf-ipcountry", "cf-visitor", "client-ip", "fastly-client-ip", "forwarded",
        "front-end-https", "proxy", "remote-addr", "remote-email", "remote-groups", "remote-name", "remote-user",
        "true-client-ip", "x-client-cert", "x-client-ip", "x-client-verify",
        "x-cluster-client-ip", "x-email", "x-envoy-external-address", "x-forwarded", "x-goog-authenticated-user-email",
        "x-goog-authenticated-user-id", "x-goog-iap-jwt-assertion", "x-http-destinationurl", "x-http-host-override",
        "x-host", "x-original-forwarded-for", "x-original-host", "x-original-method", "x-original-remote-addr",
        "x-original-uri", "x-original-url", "x-originating-ip", "x-override-url", "x-proxy-user", "x-proxyuser-ip",
        "x-real-ip", "x-remote-addr", "x-remote-groups", "x-remote-ip", "x-remote-user", "x-rewrite-url",
        "x-scheme", "x-url-scheme", "x-user", "x-webauth-user",
    ]
    /// Whole families of such fields.
    package static let spoofablePrefixes = [
        "ssl-", "x-amzn-oidc-", "x-auth-request-", "x-authentik-", "x-client-cert-", "x-forwarded-", "x-ms-client-",
        "x-ssl-", "x-vouch-",
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
    /// What a client says about itself in the manner of a proxy is dropped, and so is every name with an underscore:
    /// CGI, and what was built like it, takes it for a hyphen. Only a peer on this machine may add to
    /// `X-Forwarded-For`, say the client's scheme and host, and set what the operator lists: the proxy that speaks TLS
    /// before the gateway.
    ///
    /// - Parameters:
    ///   - request: The client's fields.
    ///   - origin: Where they come from.
    ///   - proxyFields: Names, in small letters, that the operator's proxy sets.
    /// - Returns: What goes on, with what the gateway itself says.
    package static func toBackend(
        _ request: HTTPFields, from origin: Origin, proxyFields: [String] = []
    ) -> HTTPFields {
        let named = connectionOptions(of: request)
        let trusted = origin.isLocal ? request : [:]
        var fields = HTTPFields()
        for field in request {
            let name = field.name.canonicalName
            if hopByHop.contains(name) || named.contains(name) || name == "x-request-id" { continue }
            if isSpoofable(name), !(origin.isLocal && proxyFields.contains(name) && !isOwn(name)) { continue }
            fields.append(field)
        }
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

    /// Whether a backend might take a field for a proxy's.
    private static func isSpoofable(_ name: String) -> Bool {
        name.utf8.contains(UInt8(ascii: "_")) || spoofable.contains(name)
            || spoofablePrefixes.contains { name.hasPrefix($0) }
    }

    /// Whether the gateway says a field itself.
    private static func isOwn(_ name: String) -> Bool {
        ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"].contains(name)
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
