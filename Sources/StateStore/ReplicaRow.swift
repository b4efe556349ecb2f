// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// One replica as the operator sees it.
package struct ReplicaRow: Hashable, Sendable {
    /// The replica's number.
    package var id: ReplicaID
    /// The principal that the replica belongs to.
    package var principal: Principal
    /// True if the replica has ever come back with a cursor.
    package var isConfirmed: Bool
    /// The time at which the replica began.
    package var firstSeen: Instant
    /// The time of the replica's last pull or push, up to ten minutes late.
    package var lastSeen: Instant
    /// The result of the replica's last pull or push.
    package var lastResult: String
    /// The replica's newest cursor.
    package var newest: Cursor?
    /// The schema version that the client has last stated, else the one that its pushes or its newest cursor show; nil
    /// if it is unknown.
    package var schemaVersion: Int?
    /// The newest cursor that has come back; nil if none has.
    package var tip: Cursor?
    /// The oldest cursor from which the ledger is exact; nil as long as it is exact at all of the replica's cursors.
    package var horizon: Cursor?
    /// The contents of the ledger by table, at the tip, or at the newest cursor if there is no tip; empty without a
    /// ledger.
    package var ledger: [String: LedgerCount] = [:]
    /// The bytes of all layers of the ledger, including those that only older cursors need.
    package var ledgerBytes = 0
    /// The last full comparison of each request type, as of the newest cursor.
    package var comparisons: [String: FullComparison] = [:]
    /// The time at which the operator last accepted held-back deletions; 0 if never.
    package var acceptedAt: Instant = 0
    /// The time at which the operator last requested a comparison of everything; 0 if never.
    package var resyncAt: Instant = 0

    /// True if nothing of the replica can be read: apart from its number and principal, the row says nothing.
    package var isDamaged = false

    /// The request types whose deletions are held back until the operator accepts them.
    package var blocked: [String] {
        comparisons.filter { $0.value.isBlocked && !$0.value.isReleased(by: acceptedAt) }.keys.sorted()
    }

    /// The request types whose deletions the operator has accepted and that were not compared since.
    package var released: [String] { comparisons.filter { $0.value.isReleased(by: acceptedAt) }.keys.sorted() }
}

extension ReplicaRow {
    /// Creates the row of a replica whose head is damaged, whose last result says so.
    package init(damaged row: ByteRow, of principal: Principal) {
        self.init(
            id: ReplicaID(rawValue: row.number), principal: principal, isConfirmed: false, firstSeen: 0, lastSeen: 0,
            lastResult: Coder.damage.code, isDamaged: true)
    }
}
