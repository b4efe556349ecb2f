// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

// Nothing is written, and no conflict answered, for a credential that the backend has not accepted.
extension PushRunner {
    /// Whether anything may be written.
    var isAccepted: Bool { services.identities.isAccepted(identity, at: services.clock.now) }

    /// Makes sure that something may be written.
    mutating func admit() async throws {
        try await services.identities.verify(identity, at: services.clock.now, from: row?.vector)
        try await confirm()
    }

    /// Confirms the presented cursor, where that has waited for the backend.
    mutating func confirm() async throws {
        guard let cursor = unconfirmed.take() else { return }
        try await services.store.confirm(principal: identity.principal, cursor: cursor, at: services.clock.now)
    }

    /// Looks for the receipt of the very same push, with the very same credential.
    ///
    /// It is the gateway's own word: the credential may have been revoked since, or be somebody else's, so the backend
    /// is asked whatever it has said a moment ago.
    mutating func findReceipt() async throws -> Bool {
        let now = services.clock.now
        receipt = try await services.store.receipt(principal: identity.principal, digest: digest, at: now)
        guard receipt != nil else { return false }
        try await services.identities.verifyNow(identity, at: now, from: row?.vector)
        try await confirm()
        return true
    }
}
