// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging
import StateStore
import SyncModel
import WatermelonWire

/// Finds the receipt of one push, and ends those of the principal's other pushes.
struct PushReceipts {
    /// The digest of all that makes two pushes the very same one.
    let digest: String
    /// The receipt of the very same push, once it is found.
    private(set) var found: Receipt?
    /// True if receipts of other pushes may be there.
    private var othersMayExist: Bool

    init(_ scope: PushScope) {
        othersMayExist = scope.known?.hasReceipts ?? true
        digest = scope.services.digests.digits(
            .push,
            [
                Array(scope.principal.rawValue.utf8), Array(scope.identity.credential.utf8),
                Array("\(scope.request.lastPulledAt ?? 0)".utf8),
                scope.request.changes.bytes,
            ])
    }

    /// Looks for the receipt of the very same push, with the very same credential.
    ///
    /// The receipt comes from the gateway alone, and the credential may have been revoked or belong to another user.
    /// The backend is therefore asked again, even if it has accepted the credential a moment ago.
    mutating func find(_ scope: PushScope, _ acceptance: inout Acceptance) async throws -> Bool {
        guard othersMayExist else { return false }
        found = try await scope.read { try ReceiptRules.receipt(digest, at: scope.now, of: &$0) }
        guard found != nil else { return false }
        try await acceptance.obtainAnew()
        return true
    }

    /// Ends the receipts of the principal's other pushes before this one is sent: it may undo what they did, and then
    /// they must be carried out again (issue 48).
    mutating func endOthers(_ scope: PushScope, _ acceptance: inout Acceptance) async throws {
        guard othersMayExist else { return }
        try await acceptance.obtain()
        try await scope.change { try ReceiptRules.drop(in: &$0) }
        othersMayExist = false
    }

    /// The change that ends them, for a transaction that writes something else as well.
    var end: @Sendable (inout Account) throws -> Void {
        { [othersMayExist] account in if othersMayExist { try ReceiptRules.drop(in: &account) } }
    }

    /// Notes that this transaction was made.
    mutating func othersHaveEnded() { othersMayExist = false }

    /// Stores the receipt, and notes in the same transaction; returns false if neither is written.
    ///
    /// A failure is only logged: the push was applied, and its client must get that answer.
    func save(_ reply: PushAnswerMaker, with notes: [PushNote], _ scope: PushScope) async -> Bool {
        guard let kept = reply.keptReceipt(digest) else { return false }
        do {
            try await scope.lastWrite {
                try await scope.change { account in
                    try NoteRules.write(notes, at: scope.now, in: &account)
                    try ReceiptRules.save(kept, at: scope.now, in: &account)
                }
            }
            return true
        } catch {
            scope.logger.notWritten("could not store the receipt of an applied push", error)
            return false
        }
    }
}
