// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import SyncModel

// Checks that the backend accepts a credential.
extension IdentityResolver {
    /// The greatest number of request types that are tried if the backend refuses to stream them.
    private static let maximumProbes = 8

    private var isNamedByBackend: Bool {
        if case .backend = source { true } else { false }
    }

    /// Returns true if the backend has accepted this very credential within `[identity] auth_ttl`, or while the request
    /// runs.
    func isAccepted(_ identity: CallerIdentity, at now: Instant) -> Bool {
        identity.admission.isAccepted || known.isAccepted(identity.credential, at: now)
    }

    /// Makes sure that the credential is accepted, and asks the backend if that is unknown.
    ///
    /// A stream that is opened for this starts at `vector`, so that it costs the backend little.
    func verify(_ identity: CallerIdentity, at now: Instant, from vector: CheckpointVector? = nil) async throws {
        guard !isAccepted(identity, at: now) else { return }
        try await verifyNow(identity, at: now, from: vector)
    }

    /// Makes sure that the backend accepts the credential now, and that it still belongs to the same principal, before
    /// anything cached for the principal is used.
    func verifyNow(_ identity: CallerIdentity, at now: Instant, from vector: CheckpointVector? = nil) async throws {
        try await verifyName(identity, at: now)
        guard !identity.admission.isAccepted else { return }
        try await askForAcceptance(identity, at: now, from: vector)
    }

    /// Makes sure, if the backend names principals, that the credential still belongs to the same one, before the
    /// backend's answer to this request is combined with cached data.
    func verifyName(_ identity: CallerIdentity, at now: Instant) async throws {
        guard isNamedByBackend, !identity.admission.isNamed else { return }
        try await askForName(identity, at: now)
    }

    /// Asks the backend something, even if it has answered before.
    ///
    /// - Throws: The backend's errors, and ``GatewayError`` if the credential now belongs to another principal.
    func ask(_ identity: CallerIdentity, at now: Instant) async throws {
        if isNamedByBackend {
            try await askForName(identity, at: now)
        } else {
            try await askForAcceptance(identity, at: now, from: nil)
        }
    }

    private func askForName(_ identity: CallerIdentity, at now: Instant) async throws {
        let user = try await askBackend(identity.forwarded)
        known.accept(identity.bareCredential, as: user, at: now)
        guard user == identity.principal.user else { throw isOtherPrincipal }
        identity.admission.name(in: identity.forwarded.scope)
    }

    /// Returns the error for a caller whom the backend does not know any more (404, 410); nil for other errors.
    ///
    /// With 404 the configured path may be wrong just as well: it counts only if the backend has named anybody, and
    /// apps get a status after which they keep their database.
    func accountGone(_ error: any Error, of call: String) -> GatewayError? {
        guard case BackendError.refused(let status) = error, status == 410 || status == 404 && known.hasNamed else {
            return nil
        }
        var gone = GatewayError(
            fault: .accountGone,
            cause: "the backend answers \(status) to '[identity] principal', \(call): the account was deleted")
        if status == 410 { gone.status = 410 }
        return gone
    }

    private func askForAcceptance(
        _ identity: CallerIdentity, at now: Instant, from vector: CheckpointVector?
    ) async throws {
        if isListable {
            _ = try await backend.list(identity.forwarded)
        } else {
            try await openStream(identity, vector ?? CheckpointVector())
        }
        accepted(identity, at: now)
    }

    /// Notes that the backend has just accepted the credential.
    func accepted(_ identity: CallerIdentity, at now: Instant) {
        known.accept(identity.credential, at: now)
        identity.admission.accept()
    }

    /// Opens a stream and drops it after its head: the cheapest request that every backend has.
    ///
    /// The stream is of one request type only, from the caller's position; if the backend refuses the type, another one
    /// is tried, and if it may refuse the tokens, none is presented.
    private func openStream(_ identity: CallerIdentity, _ vector: CheckpointVector) async throws {
        var refusal = BackendError.notConfigured("stream")
        let begun = probes.filter { $0.isBegun(vector) }
        for probe in (begun + probes.filter { !$0.isBegun(vector) }).prefix(Self.maximumProbes) {
            let part = probe.part(of: vector)
            // In style `server` no tokens are sent, and the second request would be the first.
            let isPresented = backend.settings.checkpoints == .request && !part.isEmpty
            for presented in isPresented ? [part, CheckpointVector()] : [part] {
                do throws(BackendError) {
                    _ = try await backend.openStream(
                        types: [probe.type], vector: presented, isCompressed: false, identity.forwarded)
                    return
                } catch {
                    switch error {
                    case .typesRefused, .refused: refusal = error
                    default: throw error
                    }
                }
            }
        }
        throw refusal
    }

    private var isOtherPrincipal: GatewayError {
        GatewayError(
            fault: .otherPrincipal, cause: "the backend says that the credential is another caller's than a moment ago")
    }
}

/// A request type that can be streamed to find out if the backend accepts a credential.
struct StreamProbe: Hashable, Sendable {
    let type: String
    /// The namespaces of its stream.
    let namespaces: Set<String>

    /// Returns the probes for the newest version of a schema, in the schema's order.
    static func all(in schema: Schema) -> [StreamProbe] {
        let tables = schema.tables(at: schema.version)
        return schema.requestTypes(at: schema.version).map { type in
            let namespaces = tables.flatMap { table in
                table.upserts.filter { upsert in
                    table.feeds[table.feed(of: upsert)].version(at: schema.version)?.requestType == type
                }
            }
            return StreamProbe(type: type, namespaces: Set(namespaces))
        }
    }

    /// Returns true if a vector has a position for its stream.
    func isBegun(_ vector: CheckpointVector) -> Bool { namespaces.contains { vector[$0] != nil } }

    /// Returns the part of a vector that belongs to its stream.
    func part(of vector: CheckpointVector) -> CheckpointVector { vector.filter { namespaces.contains($0) } }
}
