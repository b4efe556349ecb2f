// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import NIOConcurrencyHelpers
import StateStore
import SyncModel

/// Who a request comes from, and what is sent on in their name.
struct CallerIdentity: Sendable {
    let principal: Principal
    let session: Session
    /// A digest of the whole credential: what the backend accepts.
    let credential: String
    /// Never stored and never logged.
    let forwarded: ForwardedCredentials
}

/// Finds out who is calling, and remembers for `[identity] auth_ttl` that the backend has accepted a credential.
final class IdentityResolver: Sendable {
    /// How many sessions are remembered; the rest asks the backend again.
    private static let maximumSessions = 50_000

    private struct Known {
        let principal: Principal
        var acceptedAt: Int64
    }

    private let source: PrincipalSource
    private let tokenHeaders: [String]
    private let forwarding: ForwardingRule
    private let lifetime: Int64
    private let isListable: Bool
    private let backend: BackendClient
    private let digests: KeyedDigest
    private let known = NIOLockedValueBox<[String: Known]>([:])

    init(configuration: Configuration, backend: BackendClient, digests: KeyedDigest) {
        source = configuration.identity.principal
        tokenHeaders = configuration.wire.tokenHeader
        forwarding = ForwardingRule(
            listed: ["authorization", "cookie"] + configuration.wire.tokenHeader + configuration.backend.forwardHeaders)
        lifetime = configuration.identity.authTTL.milliseconds
        isListable = configuration.backend.checkpoints == .server && configuration.backend.list != nil
        self.backend = backend
        self.digests = digests
    }

    /// Whether ``verify(_:at:)`` can ask the backend at all.
    var canVerify: Bool {
        if case .backend = source { return true }
        return isListable
    }

    /// Finds out who is calling.
    ///
    /// - Throws: ``GatewayError`` with 401 where there is no credential, and what the backend throws where it is asked.
    func resolve(_ caller: Caller, at now: Int64) async throws -> CallerIdentity {
        guard let credential = Credential(caller.fields, tokenHeaders: tokenHeaders) else { throw notSignedIn }
        let forwarded = forwarding.credentials(of: caller.fields, isPeerTrusted: false)
            .with(requestID: caller.requestID)
        let digest = digests.digits(.credential, credential.allParts)
        switch source {
        case .bearer:
            guard let token = credential.token else { throw notSignedIn }
            return CallerIdentity(
                principal: principal(["bearer", token]), session: session(credential.sessionParts),
                credential: digest, forwarded: forwarded)
        case .cookie(let name):
            guard let value = credential.cookie(named: name) else { throw notSignedIn }
            let parts = [Array(name.utf8), Array(value.utf8)]
            return CallerIdentity(
                principal: principal(["cookie", name, value]), session: session(parts), credential: digest,
                forwarded: forwarded)
        case .backend:
            let session = session(credential.sessionParts)
            if let known = fresh(digest, at: now) {
                return CallerIdentity(
                    principal: known.principal, session: session, credential: digest, forwarded: forwarded)
            }
            let principal = try await askBackend(forwarded)
            remember(digest, principal, at: now)
            return CallerIdentity(principal: principal, session: session, credential: digest, forwarded: forwarded)
        }
    }

    /// Makes sure that the backend has accepted this very credential within `[identity] auth_ttl`.
    ///
    /// Nothing is answered from the gateway's own state otherwise (design §3).
    func verify(_ identity: CallerIdentity, at now: Int64) async throws {
        if fresh(identity.credential, at: now) != nil { return }
        _ = try await ask(identity, at: now)
    }

    /// Asks the backend for the caller, whatever it has said before.
    ///
    /// - Returns: Whether it can be asked at all.
    func ask(_ identity: CallerIdentity, at now: Int64) async throws -> Bool {
        if case .backend = source {
            guard try await askBackend(identity.forwarded) == identity.principal else { throw notSignedIn }
        } else if isListable {
            _ = try await backend.list(identity.forwarded)
        } else {
            return false
        }
        accepted(identity, at: now)
        return true
    }

    /// Notes that the backend has just accepted the credential.
    func accepted(_ identity: CallerIdentity, at now: Int64) {
        remember(identity.credential, identity.principal, at: now)
    }

    private func askBackend(_ forwarded: ForwardedCredentials) async throws -> Principal {
        guard case .backend(let method, let target, let path) = source else { throw notSignedIn }
        let call = Call(method: method, target: [.text(target)])
        guard let value = try await backend.value(of: call, at: path, forwarded), !value.isEmpty else {
            throw GatewayError(
                status: 502, code: "identity.no_principal",
                message: "The server did not say who is signed in. Please try again later.",
                cause: "the answer to \(method) \(target) has nothing at '\(path)'")
        }
        return principal(["backend", value])
    }

    private func fresh(_ credential: String, at now: Int64) -> Known? {
        guard let known = known.withLockedValue({ $0[credential] }) else { return nil }
        let age = now - known.acceptedAt
        return age >= 0 && age <= lifetime ? known : nil
    }

    private func remember(_ credential: String, _ principal: Principal, at now: Int64) {
        known.withLockedValue { known in
            if known.count >= Self.maximumSessions, known[credential] == nil {
                known = known.filter { now - $0.value.acceptedAt <= lifetime }
                if known.count >= Self.maximumSessions { known.removeAll() }
            }
            known[credential] = Known(principal: principal, acceptedAt: now)
        }
    }

    private func principal(_ parts: [String]) -> Principal {
        Principal(rawValue: digests.digits(.principal, parts.map { Array($0.utf8) }))
    }

    private func session(_ parts: [[UInt8]]) -> Session { Session(rawValue: digests.digits(.session, parts)) }

    private var notSignedIn: GatewayError {
        GatewayError(status: 401, code: "request.not_signed_in", message: "You are not signed in.")
    }
}
