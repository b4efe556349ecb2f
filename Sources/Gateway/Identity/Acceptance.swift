// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Lets a sync write only once the backend has accepted its credential: nothing is written for a stranger.
struct Acceptance {
    private let services: SyncServices
    private let identity: CallerIdentity
    /// The presented cursor, while it is to be confirmed once the credential is accepted.
    private var unconfirmed: Cursor?
    /// Where the presented cursor stands: a credential may be tried by a stream from there.
    var vector: CheckpointVector?

    init(_ identity: CallerIdentity, _ services: SyncServices) {
        self.identity = identity
        self.services = services
    }

    /// Whether anything may be written.
    var isGiven: Bool { services.identities.isAccepted(identity, at: services.clock.now) }

    /// Makes sure that something may be written, before the backend has been asked for anything else.
    mutating func obtain() async throws {
        try await services.identities.verify(identity, at: services.clock.now, from: vector)
        try await confirm()
    }

    /// The same, whatever the backend has said a moment ago.
    mutating func obtainAnew() async throws {
        try await services.identities.verifyNow(identity, at: services.clock.now, from: vector)
        try await confirm()
    }

    /// Notes that the backend has just done something with the credential.
    mutating func accepted() async throws {
        services.identities.accepted(identity, at: services.clock.now)
        try await confirm()
    }

    /// Confirms the presented cursor, now or as soon as anything may be written.
    mutating func confirm(_ cursor: Cursor) async throws {
        unconfirmed = cursor
        if isGiven { try await confirm() }
    }

    private mutating func confirm() async throws {
        guard let cursor = unconfirmed.take() else { return }
        try await services.store.confirm(principal: identity.principal, cursor: cursor, at: services.clock.now)
    }
}
