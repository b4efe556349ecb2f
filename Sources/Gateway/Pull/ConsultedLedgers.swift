// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Ledger
import Logging
import StateStore
import SyncModel

/// The ledgers that a pull reads, and what becomes of it if one cannot be read.
struct ConsultedLedgers {
    /// The ledgers as they were read.
    var outlines: [LedgerOutline] = []
    /// True if unreadable parts are passed over.
    private(set) var skipsDamage = false
    /// The number of times that ledgers of other devices may still be looked at again because they change meanwhile.
    private var looks = 3

    /// Skips the unreadable parts from now on, so that they do not stop the device for good; if ledgers of other devices
    /// were changed since they were read, it only lets the pull look at them again.
    ///
    /// - Throws: The error if they were to be skipped already, and `StateError.ledgerChanged` if another pull has
    ///   compacted the device's ledger during this one, or the others change all the while.
    mutating func passOver(_ error: LedgerError, own: LedgerOutline?, _ scope: PullScope) async throws {
        if let own, try await isAnyChanged([own], scope) { throw StateError.ledgerChanged }
        if try await isAnyChanged(outlines, scope) {
            guard looks > 0 else { throw StateError.ledgerChanged }
            looks -= 1
            return
        }
        guard !skipsDamage else { throw error }
        skipsDamage = true
        scope.logger.error(
            "a ledger is damaged: the device gets everything and another ledger",
            metadata: [
                "code": "\(error.rawValue)", "replica": "\(own?.replica.description ?? "")",
                "hint": "if it is not the only one, the state's file has suffered: see docs/STATE.md",
            ])
    }

    /// Throws `StateError.ledgerChanged` if parts were skipped of ledgers that are others by now: whether they are
    /// damaged is unknown.
    func checkSkipped(_ scope: PullScope) async throws {
        if skipsDamage, try await isAnyChanged(outlines, scope) { throw StateError.ledgerChanged }
    }

    private func isAnyChanged(_ outlines: [LedgerOutline], _ scope: PullScope) async throws -> Bool {
        for outline in outlines {
            let now = try await scope.read { try $0.replica(outline.replica)?.ledger.version }
            if now != outline.version { return true }
        }
        return false
    }
}
