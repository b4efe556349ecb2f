// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import JSONBytes
import SyncModel
import Telemetry

/// Finds out who is calling, and whether the backend accepts their credential.
///
/// Nothing is written, and no state is shown, for a credential that the backend has not accepted within
/// `[identity] auth_ttl` or while the request runs.
final class IdentityResolver: Sendable {
    let source: PrincipalSource
    /// True if listing the checkpoints shows that a credential is accepted.
    let isListable: Bool
    let backend: BackendClient
    let known: AcceptedCredentials
    /// The streams to open if nothing cheaper shows that a credential is accepted.
    let probes: [StreamProbe]

    private let naming: PrincipalNaming
    let identity: Configuration.Identity
    /// Verifies tokens; nil if the configuration does not want that.
    let tokens: TokenKeys?
    private let forwarding: ForwardingRule
    private let digests: KeyedDigest

    /// Creates a resolver; `known` are the credentials that the backend has accepted before, and `tokens` verifies
    /// tokens if the configuration wants that.
    init(
        configuration: Configuration, backend: BackendClient, digests: KeyedDigest, known: AcceptedCredentials? = nil,
        tokens: TokenKeys? = nil
    ) {
        identity = configuration.identity
        self.tokens = tokens
        source = configuration.identity.principal
        naming = PrincipalNaming(configuration, digests)
        forwarding = configuration.forwardingRule
        self.known = known ?? AcceptedCredentials(lifetime: configuration.identity.authTTL.milliseconds)
        isListable = configuration.backend.checkpoints == .server && configuration.backend.list != nil
        probes = StreamProbe.all(in: configuration.schema)
        self.backend = backend
        self.digests = digests
    }

    /// Finds out who is calling.
    ///
    /// A name from the backend is at most `[identity] auth_ttl` old.
    ///
    /// - Throws: ``GatewayFault`` with 401 if there is no credential or none that counts, with 403 if a stranger says
    ///   who is calling, and the backend's errors if it is asked.
    func resolve(_ caller: Caller, at now: Instant) async throws -> CallerIdentity {
        // Fields that are not forwarded, such as those that `Connection` names, do not reach the backend, so it has not
        // accepted them.
        try checkPeer(of: caller)
        let sent = forwarding.credentials(of: caller.fields, isPeerTrusted: caller.isPeerTrusted)
        guard let credential = naming.credential(in: sent.fields) else { throw notSignedIn }
        let token = try await verifiedToken(of: credential, caller)
        let sessionName = try reported(caller) { () throws(TokenRefusal) in
            try name(ofSession: credential, token, caller)
        }
        let forwarded = sent.with(requestID: caller.requestID, originFields: caller.originFields)
            .with(scope: caller.scope)
        let digest = digests.digits(.credential, credential.allParts)
        func identity(_ user: Principal, _ session: [[UInt8]]) -> CallerIdentity {
            CallerIdentity(
                principal: naming.principal(user, in: caller.scope),
                session: Session(rawValue: digests.digits(.session, sessionName ?? session)),
                credential: digests.digits(.credential, digest, in: caller.scope), bareCredential: digest,
                forwarded: forwarded)
        }
        switch source {
        case .bearer:
            guard let principal = naming.principal(of: credential) else { throw notSignedIn }
            return identity(principal, credential.sessionParts)
        case .cookie(let name):
            guard let principal = naming.principal(of: credential),
                let session = credential.sessionParts(ofCookie: name)
            else { throw notSignedIn }
            return identity(principal, session)
        case .jwt(let claim):
            guard let token else { throw notSignedIn }
            let name = try reported(caller) { () throws(TokenRefusal) in
                guard let name = try token.name(in: claim) else {
                    throw TokenRefusal(.claim, "the token has no '\(claim)'")
                }
                return name
            }
            return identity(try principal(named: name, of: credential), credential.sessionParts)
        case .header(let field):
            let name = try proxyName(in: field, caller)
            return identity(try principal(named: name, of: credential), credential.sessionParts)
        case .backend:
            let user = known.principal(of: digest, at: now)
            SyncTrace.note { $0.isKnownCaller = user != nil }
            if let user {
                return identity(user, credential.sessionParts)
            }
            let named = identity(try await askBackend(forwarded), credential.sessionParts)
            known.accept(digest, as: named.principal.user, at: now)
            named.admission.name(in: caller.scope)
            return named
        }
    }

    /// Asks the backend who the caller is, in whatever scope.
    func askBackend(_ forwarded: ForwardedCredentials) async throws -> Principal {
        guard case .backend(let method, let target, let path) = source else { throw notSignedIn }
        let call = Call(method: method, target: [.text(target)])
        let value: JSONValue?
        do {
            value = try await backend.value(of: call, at: path, forwarded)
        } catch {
            throw accountGone(error, of: "\(method) \(target)") ?? error
        }
        guard let name = value.flatMap(IdentityName.of), let principal = naming.principal(ofUser: name) else {
            let lack = "has neither a text of 1 to 255 bytes nor an integer at '\(path)'"
            backend.log(
                GatewayFault.noPrincipal.rawValue, "the answer \(lack)", of: .principal, call: call, as: forwarded)
            throw GatewayError(fault: .noPrincipal, cause: "the answer to \(method) \(target) \(lack)")
        }
        return principal
    }

    private func principal(named name: String, of credential: Credential) throws -> Principal {
        guard let principal = naming.principal(named: name, of: credential) else { throw notSignedIn }
        return principal
    }

    private var notSignedIn: GatewayFault { .notSignedIn }
}
