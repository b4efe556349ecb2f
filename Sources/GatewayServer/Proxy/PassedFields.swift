// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// Decides which header fields pass between client and backend, both ways (RFC 9110, 7.6).
package enum PassedFields {
    /// The fields that concern one connection only, not the message (RFC 9110, 7.6.1), or that frame it.
    private static let hopByHop: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    /// The fields by which a proxy that the backend trusts states who is calling, from where and what for; a client
    /// must not set them.
    ///
    /// `Proxy` becomes the variable `HTTP_PROXY` of a CGI program (https://httpoxy.org).
    package static let spoofable: Set<String> = [
        "cf-access-authenticated-user-email", "cf-access-jwt-assertion", "cf-connecting-ip",
        "cf-connecting-ipv6", "cf-ipcountry", "cf-visitor", "client-cert", "client-cert-chain", "client-ip",
        "fastly-client-ip", "forwarded",
        "front-end-https", "proxy", "remote-addr", "remote-email", "remote-groups", "remote-name", "remote-user",
        "true-client-ip", "x-arr-clientcert", "x-authenticated-user", "x-authenticated-userid", "x-client-cert",
        "x-client-dn", "x-client-ip", "x-client-verify", "x-cluster-client-ip", "x-credential-identifier", "x-email",
        "x-envoy-external-address", "x-envoy-original-path", "x-forwarded", "x-goog-authenticated-user-email",
        "x-goog-authenticated-user-id", "x-goog-iap-jwt-assertion", "x-http-destinationurl", "x-http-host-override",
        "x-host", "x-original-forwarded-for", "x-original-host", "x-original-method", "x-original-remote-addr",
        "x-original-uri", "x-original-url", "x-originating-ip", "x-override-url", "x-proxy-user", "x-proxyuser-ip",
        "x-real-ip", "x-remote-addr", "x-remote-groups", "x-remote-ip", "x-remote-user", "x-rewrite-url",
        "x-scheme", "x-tls-client-cert", "x-url-scheme", "x-user", "x-webauth-user",
    ]
    /// The prefixes of whole families of such fields.
    package static let spoofablePrefixes = [
        "impersonate-", "oidc-claim-", "ssl-", "tailscale-user-", "x-amzn-oidc-", "x-auth-request-", "x-authentik-",
        "x-client-cert-", "x-consumer-", "x-forwarded-", "x-ms-client-", "x-pomerium-", "x-ssl-", "x-vouch-",
    ]
    private static let own = "rind"

    /// The origin of a request.
    package struct Origin: Sendable {
        /// The address of the peer that connected, or for which a proxy has passed on the connection.
        package var peer: String?
        /// The id of the request.
        package var requestID: String
        /// True if the peer is a proxy whose word is believed.
        package var isTrusted: Bool
        /// The peer's statement, if it is trusted.
        package var stated: StatedOrigin
        /// True if the connection itself has TLS.
        package var isTLS: Bool

        /// Creates an origin.
        package init(peer: String?, requestID: String, isTrusted: Bool, stated: StatedOrigin, isTLS: Bool = false) {
            self.isTLS = isTLS
            self.peer = peer
            self.requestID = requestID
            self.isTrusted = isTrusted
            self.stated = stated
        }
    }

    /// Returns the fields that tell the backend where a request comes from.
    package static func originFields(of request: HTTPFields, from origin: Origin) -> HTTPFields {
        var fields = HTTPFields()
        var chain = origin.stated.addresses ?? ""
        if let peer = origin.peer, !peer.isEmpty { chain = chain.isEmpty ? peer : "\(chain), \(peer)" }
        if !chain.isEmpty { fields.append(HTTPField(name: .forwardedFor, value: chain)) }
        let scheme = (origin.stated.scheme ?? (origin.isTLS ? "https" : "http")) == "https" ? "https" : "http"
        fields.append(HTTPField(name: .forwardedProto, value: scheme))
        if let host = origin.stated.host ?? request[.hostName], !host.isEmpty {
            fields.append(HTTPField(name: .forwardedHost, value: host))
        }
        return fields
    }

    /// Returns the fields of a client's request as the backend gets them.
    ///
    /// Fields that a client sets in the manner of a proxy are dropped, and so is every name with an underscore: CGI,
    /// and similar interfaces, do not distinguish it from a hyphen. Only a trusted proxy may add to
    /// `X-Forwarded-For`, state the client's scheme and host, and set the fields that the operator lists.
    ///
    /// - Parameters:
    ///   - request: The client's fields.
    ///   - origin: Their origin.
    ///   - proxyFields: Names, in small letters, of fields that the operator's proxy sets.
    ///   - callerField: The name of the field in which that proxy says who is calling; nil if there is none.
    /// - Returns: The fields that pass, with those that the gateway sets.
    package static func toBackend(
        _ request: HTTPFields, from origin: Origin, proxyFields: [String] = [], callerField: String? = nil
    ) -> HTTPFields {
        let named = connectionOptions(of: request)
        var fields = HTTPFields()
        for field in request {
            let name = field.name.canonicalName
            if hopByHop.contains(name) || named.contains(name) || name == "x-request-id" { continue }
            let isProxys = proxyFields.contains(name) || name == callerField
            if isSpoofable(name) || name == callerField, !(origin.isTrusted && isProxys && !isOwn(name)) { continue }
            fields.append(field)
        }
        fields.append(contentsOf: originFields(of: request, from: origin))
        fields[.requestID] = origin.requestID
        fields[.via] = via(request)
        return fields
    }

    /// Returns the fields of the backend's answer as the client gets them.
    ///
    /// - Parameters:
    ///   - answer: The backend's fields.
    ///   - replacingCrossOrigin: True if the gateway sets the cross-origin fields itself.
    /// - Returns: The fields that concern the message, and `Via`.
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

    /// Returns true if a backend might take the field for a proxy's.
    private static func isSpoofable(_ name: String) -> Bool {
        name.utf8.contains(UInt8(ascii: "_")) || spoofable.contains(name)
            || spoofablePrefixes.contains { name.hasPrefix($0) }
    }

    /// Returns true if the gateway sets the field itself.
    private static func isOwn(_ name: String) -> Bool {
        ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"].contains(name)
    }

    /// Returns the fields that `Connection` names.
    private static func connectionOptions(of fields: HTTPFields) -> Set<String> {
        Set((fields[.connection] ?? "").split(separator: ",").map { $0.trimmedSpaces.lowercased() })
    }

    private static func via(_ fields: HTTPFields) -> String {
        [fields[.via], "1.1 \(own)"].compactMap(\.self).joined(separator: ", ")
    }
}
