// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
import SyncModel

/// The standing of a new cursor in the ledger of its replica.
struct LedgerStanding: Sendable {
    /// The layer that the cursor adds to the cursor below it; nil for none.
    var layer: Int64?
    /// The cursor below; the cursor itself if the base begins with it; nil if there is no ledger.
    var below: Int64?
    /// True if it is known exactly what the device holds at this cursor.
    var isExact: Bool
}

extension Database {
    /// Writes a pull's additions to the ledger; the replica exists already, its cursor does not yet.
    func takeLedger(of pull: PullCommit, _ limits: StateLimits) throws -> LedgerStanding {
        guard let anchor = try anchor(of: pull.row.replica) else { throw StateError.replicaUnknown(pull.row.replica) }
        for (replica, version) in pull.ledgersRead {
            guard try self.anchor(of: replica)?.isCurrent(version) == true else { throw StateError.ledgerChanged }
        }
        switch pull.ledger {
        case .none:
            return LedgerStanding(layer: nil, below: try below(pull, anchor), isExact: false)
        case .chunks(let chunks, let counts):
            if chunks.isEmpty, anchor.base != nil {
                return LedgerStanding(layer: nil, below: try below(pull, anchor), isExact: true)
            }
            let layer = try makeLayer(.staged, replica: nil, cursor: nil, at: pull.now)
            try add(chunks, to: layer, limit: limits.chunkBytes)
            return try take(layer, counts: counts, of: pull, anchor: anchor)
        case .staged(let staged, let counts):
            guard try isStaged(staged) else { throw StateError.ledgerChanged }
            if anchor.base != nil, try integer("SELECT chunks FROM layer WHERE id = ?", [staged.rawValue]) == 0 {
                return LedgerStanding(layer: nil, below: try below(pull, anchor), isExact: true)
            }
            return try take(staged.rawValue, counts: counts, of: pull, anchor: anchor)
        }
    }

    /// Gives a staged layer to the replica: as its base if it has none, else as the delta of the new cursor.
    private func take(
        _ layer: Int64, counts: [String: LedgerCount], of pull: PullCommit, anchor: LedgerAnchor
    ) throws -> LedgerStanding {
        let cursor = pull.row.cursor.rawValue
        let isBase = anchor.base == nil
        try run(
            "UPDATE layer SET replica = ?, kind = ?, cursor = ?, made_at = ? WHERE id = ?",
            [anchor.replica.rawValue, isBase ? LayerKind.base : .delta, cursor, pull.now, layer])
        try count(counts, in: layer)
        guard isBase else { return LedgerStanding(layer: layer, below: try below(pull, anchor), isExact: true) }
        try run(
            """
            UPDATE replica SET base = ?, folded = ?, horizon = NULL, ledger_version = ledger_version + 1 WHERE id = ?
            """, [layer, cursor, anchor.replica.rawValue])
        return LedgerStanding(layer: nil, below: cursor, isExact: true)
    }

    /// Returns the cursor that a new one rests on: its parent, or the cursor below the parent if the parent added
    /// nothing.
    private func below(_ pull: PullCommit, _ anchor: LedgerAnchor) throws -> Int64? {
        guard let compacted = anchor.compacted, let parent = pull.row.parent else { return nil }
        let row = try row(
            "SELECT layer IS NULL, below FROM cursor WHERE principal = ? AND cursor = ? AND replica = ?",
            [anchor.principal, parent.rawValue, anchor.replica.rawValue])
        // A parent from before the ledger: the pull has compared everything with the present base.
        guard let row, let below = try row.optionalInteger(1) else { return compacted }
        return try row.integer(0) != 0 ? below : parent.rawValue
    }
}
