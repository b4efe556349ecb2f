// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// One replica as the operator sees it.
package struct ReplicaRow: Hashable, Sendable {
    /// Its number.
    package var id: ReplicaID
    /// Whose it is.
    package var principal: Principal
    /// Whether it has ever come back with a cursor.
    package var isConfirmed: Bool
    /// When it began, in milliseconds since 1970.
    package var firstSeen: Int64
    /// When it last pulled or pushed, to about a minute, in milliseconds since 1970.
    package var lastSeen: Int64
    /// What it last did.
    package var lastResult: String
    /// Its newest cursor.
    package var newest: Cursor?
    /// The client's schema version as it last told it, else as its pushes or its newest cursor show it; nil where
    /// nothing does.
    package var schemaVersion: Int?
    /// The newest cursor that has come back; nil before any has.
    package var tip: Cursor?
    /// The oldest cursor from which its ledger is exact; nil while all that it has are.
    package var horizon: Cursor?
    /// What the ledger holds at the tip, or at its newest cursor before there is a tip, by table; empty without one.
    package var ledger: [String: LedgerCount]
    /// The bytes of all layers of its ledger, also of those that only older cursors need.
    package var ledgerBytes: Int
    /// When each request type was last compared with what it holds, by its newest cursor.
    package var comparisons: [String: FullComparison]
    /// When the operator has last let it have what was held back, in milliseconds since 1970; 0 where never.
    package var acceptedAt: Int64
    /// When the operator last wanted everything compared, in milliseconds since 1970; 0: never.
    package var resyncAt: Int64

    /// The request types whose deletions are held back until the operator accepts them.
    package var blocked: [String] {
        comparisons.filter { $0.value.isBlocked && !$0.value.isReleased(by: acceptedAt) }.keys.sorted()
    }

    /// Those whose deletions the operator has accepted and that were not compared since.
    package var released: [String] { comparisons.filter { $0.value.isReleased(by: acceptedAt) }.keys.sorted() }

    /// A row.
    package init(
        id: ReplicaID, principal: Principal, isConfirmed: Bool, firstSeen: Int64, lastSeen: Int64,
        lastResult: String, newest: Cursor?, schemaVersion: Int?, tip: Cursor? = nil, horizon: Cursor? = nil,
        ledger: [String: LedgerCount] = [:], ledgerBytes: Int = 0, comparisons: [String: FullComparison] = [:],
        acceptedAt: Int64 = 0, resyncAt: Int64 = 0
    ) {
        self.id = id
        self.principal = principal
        self.isConfirmed = isConfirmed
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.lastResult = lastResult
        self.newest = newest
        self.schemaVersion = schemaVersion
        self.tip = tip
        self.horizon = horizon
        self.ledger = ledger
        self.ledgerBytes = ledgerBytes
        self.comparisons = comparisons
        self.acceptedAt = acceptedAt
        self.resyncAt = resyncAt
    }
}
