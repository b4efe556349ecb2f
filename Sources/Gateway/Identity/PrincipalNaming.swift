// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
package import GatewayConfig
package import HTTPTypes
package import SyncModel

/// Finds the name under which the state knows a user, as the identity rule of a configuration makes it.
///
/// The gateway uses it for every request, and commands use it to get from a user to their devices.
package struct PrincipalNaming: Sendable {
    /// Where the caller's lasting name comes from.
    package let source: PrincipalSource
    private let digests: KeyedDigest
    private let tokenHeaders: [String]
    private let contextHeaders: [String]

    /// The naming that a configuration asks for.
    package init(_ configuration: Configuration) {
        self.init(configuration, KeyedDigest(key: configuration.identity.key.bytes))
    }

    init(_ configuration: Configuration, _ digests: KeyedDigest) {
        source = configuration.identity.principal
        tokenHeaders = configuration.wire.tokenHeader
        contextHeaders = configuration.contextHeaders
        self.digests = digests
    }

    /// The principal of a user of this id, as the backend's answer to `[identity] principal` has it; nil if the rule
    /// names nobody by an id.
    package func principal(ofUser id: String) -> Principal? {
        guard case .backend = source else { return nil }
        return principal(["backend", id].map { Array($0.utf8) })
    }

    /// The principal of whoever sends these fields, by the token or the cookie in them; nil if it is not there, and if
    /// only the backend can tell.
    package func principal(of fields: HTTPFields) -> Principal? {
        credential(in: fields).flatMap(principal(of:))
    }

    /// Whether these fields carry a credential, whosever it is.
    package func hasCredential(in fields: HTTPFields) -> Bool { credential(in: fields) != nil }

    /// The credential that a request carries.
    func credential(in fields: HTTPFields) -> Credential? {
        Credential(fields, tokenHeaders: tokenHeaders, contextHeaders: contextHeaders)
    }

    func principal(of credential: Credential) -> Principal? {
        switch source {
        case .bearer: credential.bearerParts.map(principal)
        case .cookie(let name): credential.principalParts(ofCookie: name).map(principal)
        case .backend: nil
        }
    }

    private func principal(_ parts: [[UInt8]]) -> Principal {
        Principal(rawValue: digests.digits(.principal, parts))
    }
}
