// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import StateStore
import SyncModel

/// Lets a sync write only after the backend has accepted its credential: nothing is written for a stranger.
struct Acceptance {
    private let services: SyncServices
    private let identity: CallerIdentity
    /// The presented cursor, until the credential is accepted and the cursor can be confirmed.
    private var unconfirmed: Cursor?
    /// True if a cursor is not confirmed at once, but with a write that follows anyway, or after the stream's head.
    var defersConfirmation = false
    /// The presented cursor's vector: a stream that tries the credential may start there.
    var vector: CheckpointVector?

    init(_ identity: CallerIdentity, _ services: SyncServices) {
        self.identity = identity
        self.services = services
    }

    /// True if the sync may write.
    var isGiven: Bool { services.identities.isAccepted(identity, at: services.clock.now) }

    /// Makes sure that the sync may write, before the backend has been asked for anything else.
    mutating func obtain() async throws {
        try await services.identities.verify(identity, at: services.clock.now, from: vector)
        try await confirm()
    }

    /// Makes sure that the sync may write, and returns the cursor that its next write has to confirm; nil for none.
    mutating func obtainToConfirm() async throws -> Cursor? {
        try await services.identities.verify(identity, at: services.clock.now, from: vector)
        return unconfirmed.take()
    }

    /// Makes sure that the backend accepts the credential now, even if it has accepted it a moment ago.
    mutating func obtainAnew() async throws {
        try await services.identities.verifyNow(identity, at: services.clock.now, from: vector)
        try await confirm()
    }

    /// Notes that the backend has just accepted a request with the credential; `isLast` is false if the sync has others
    /// to make.
    mutating func accepted(isLast: Bool = true) async throws {
        services.identities.accepted(identity, at: services.clock.now)
        if isLast || !defersConfirmation { try await confirm() }
    }

    /// Confirms the presented cursor, now or as soon as the sync may write.
    mutating func confirm(_ cursor: Cursor) async throws {
        unconfirmed = cursor
        if isGiven, !defersConfirmation { try await confirm() }
    }

    private mutating func confirm() async throws {
        guard let cursor = unconfirmed.take() else { return }
        try await services.store.change(identity.principal) {
            try ReplicaRules.confirm(cursor, at: services.clock.now, in: &$0)
        }
    }
}
