// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncEngine
import SyncModel

// Nothing is written for a credential that the backend has not accepted.
extension PullRunner {
    /// Whether anything may be written.
    var isAccepted: Bool { services.identities.isAccepted(identity, at: services.clock.now) }

    /// Makes sure that something may be written, before the backend has been asked for anything else.
    mutating func admit() async throws {
        try await services.identities.verify(identity, at: services.clock.now, from: presentedRow?.vector)
        try await confirm()
    }

    /// Notes that the backend has just done something with the credential.
    mutating func accepted() async throws {
        services.identities.accepted(identity, at: services.clock.now)
        try await confirm()
    }

    /// Confirms the presented cursor, where that has waited for the backend.
    mutating func confirm() async throws {
        guard let cursor = unconfirmed.take() else { return }
        try await services.store.confirm(principal: query.principal, cursor: cursor, at: services.clock.now)
    }
}
