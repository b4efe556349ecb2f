// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// The protocols to which the backend may switch a client's connection.
struct UpgradeOffer {
    /// The names of the protocols, as in `Upgrade`.
    let protocols: String

    /// Names of protocols, without their version, that carry other requests.
    ///
    /// The backend would see them without any of the gateway's rules: its closed paths, its fields, its limits.
    private static let refused = ["h2", "h3", "http", "tls"]

    /// Reads the offer of a request; nil if there is none that passes on.
    ///
    /// A server may ignore every offer (RFC 9110, 7.8), and must ignore those of HTTP/1.0. Those of a request with a
    /// body are ignored, too: the body would have to be sent before it is known what follows it.
    init?(_ request: IncomingRequest) {
        guard request.isModern, !request.hasBody, request.method != .head,
            Self.elements(of: request.fields[.connection]).contains(where: { $0.lowercased() == "upgrade" })
        else { return nil }
        let passed = Self.elements(of: request.fields[.upgrade]).filter(Self.passes)
        guard !passed.isEmpty else { return nil }
        protocols = passed.joined(separator: ", ")
    }

    private static func elements(of list: String?) -> [String] {
        (list ?? "").split(separator: ",").map(\.trimmedSpaces).filter { !$0.isEmpty }
    }

    private static func passes(_ offer: String) -> Bool {
        let parts = offer.split(separator: "/", omittingEmptySubsequences: false)
        let name = parts[0].lowercased()
        return parts.count <= 2 && parts.allSatisfy { HTTPField.Name(String($0)) != nil }
            && !refused.contains { name.hasPrefix($0) }
    }
}
