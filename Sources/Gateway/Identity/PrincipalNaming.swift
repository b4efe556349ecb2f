// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
package import GatewayConfig
package import HTTPTypes
package import SyncModel

/// Finds a user's principal by the identity rule of a configuration.
///
/// The gateway uses it for every request; commands use it to get from a user to their devices.
package struct PrincipalNaming: Sendable {
    /// The source of the principal's lasting name.
    package let source: PrincipalSource
    private let digests: KeyedDigest
    private let tokenHeaders: [String]
    private let contextHeaders: [String]

    /// Creates the naming that a configuration defines.
    package init(_ configuration: Configuration) {
        self.init(configuration, KeyedDigest(key: configuration.identity.key.bytes))
    }

    init(_ configuration: Configuration, _ digests: KeyedDigest) {
        source = configuration.identity.principal
        tokenHeaders = configuration.wire.tokenHeader
        contextHeaders = configuration.contextHeaders
        self.digests = digests
    }

    /// Returns the principal of a user with this id in the backend's answer to `[identity] principal`; nil if the rule
    /// does not name principals by id.
    package func principal(ofUser id: String) -> Principal? {
        guard case .backend = source else { return nil }
        return principal(["backend", id].map { Array($0.utf8) })
    }

    /// Returns the principal of the caller that sends these fields, by their token or cookie; nil if they have none, or
    /// if only the backend knows the principal.
    package func principal(of fields: HTTPFields) -> Principal? {
        credential(in: fields).flatMap(principal(of:))
    }

    /// Returns true if these fields carry a credential, of any user.
    package func hasCredential(in fields: HTTPFields) -> Bool { credential(in: fields) != nil }

    /// Returns the credential that a request carries.
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
