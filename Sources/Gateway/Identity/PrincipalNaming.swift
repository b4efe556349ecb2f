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
    private let proxyField: String?
    private let contextHeaders: [String]

    /// Creates the naming that a configuration defines.
    package init(_ configuration: Configuration) {
        self.init(configuration, KeyedDigest(key: configuration.identity.key.bytes))
    }

    init(_ configuration: Configuration, _ digests: KeyedDigest) {
        source = configuration.identity.principal
        tokenHeaders = configuration.wire.tokenHeader
        proxyField = configuration.identity.proxyField
        contextHeaders = configuration.contextHeaders
        self.digests = digests
    }

    /// Returns the principal of a user with this id in the backend's answer, claim or field of `[identity] principal`;
    /// nil if the rule does not name principals by id alone.
    package func principal(ofUser id: String) -> Principal? {
        switch source {
        case .backend: principal(["backend", id].map { Array($0.utf8) })
        case .jwt(let claim) where contextHeaders.isEmpty: principal(["jwt", claim, id].map { Array($0.utf8) })
        case .header(let name) where contextHeaders.isEmpty: principal(["header", name, id].map { Array($0.utf8) })
        case .jwt, .header, .cookie, .bearer: nil
        }
    }

    /// Returns the principal of a user in a scope.
    package func principal(_ user: Principal, in scope: SyncScope) -> Principal {
        guard !scope.isEmpty else { return user }
        return Principal(
            rawValue: digests.digits(.principal, user.rawValue, in: scope),
            origin: Principal.Origin(user: user.rawValue, scope: scope.description))
    }

    /// Returns the principal of a caller with this name in the claim or the field of `[identity] principal`; nil if
    /// the rule has neither.
    func principal(named name: String, of credential: Credential) -> Principal? {
        switch source {
        case .jwt(let claim): principal(credential.parts(of: name, in: claim, "jwt"))
        case .header(let field): principal(credential.parts(of: name, in: field, "header"))
        case .backend, .cookie, .bearer: nil
        }
    }

    /// Returns the principal of the caller that sends these fields, by their bearer token or cookie; nil if they have
    /// none, or if others tell the principal.
    package func principal(of fields: HTTPFields) -> Principal? {
        credential(in: fields).flatMap(principal(of:))
    }

    /// Returns true if these fields carry a credential, of any user.
    package func hasCredential(in fields: HTTPFields) -> Bool { credential(in: fields) != nil }

    /// Returns the credential that a request carries.
    func credential(in fields: HTTPFields) -> Credential? {
        Credential(fields, tokenHeaders: tokenHeaders, proxyField: proxyField, contextHeaders: contextHeaders)
    }

    func principal(of credential: Credential) -> Principal? {
        switch source {
        case .bearer: credential.bearerParts.map(principal)
        case .cookie(let name): credential.principalParts(ofCookie: name).map(principal)
        case .header(let name):
            credential.fields.first { $0.name == name }.flatMap { principal(named: $0.value, of: credential) }
        case .backend, .jwt: nil
        }
    }

    private func principal(_ parts: [[UInt8]]) -> Principal {
        Principal(rawValue: digests.digits(.principal, parts))
    }
}
