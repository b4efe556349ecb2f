// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
import SyncModel

/// The columns of a replica that concern its ledger and its pulls.
struct LedgerAnchor: Sendable {
    var replica: ReplicaID
    var principal: Int64
    /// The newest cursor that the device has presented.
    var tip: SyncModel.Cursor?
    var base: LayerID?
    /// The newest cursor that is in the base.
    var compacted: Int64?
    /// The oldest cursor to which the undos lead back; nil while all undos are there.
    var horizon: Int64?
    var version: Int
    /// The greatest number of a layer when the compaction in progress began.
    var compactAfter: Int64
    var acceptedAt: Instant
    var resyncAt: Instant
    var lastSeen: Instant
    var firstSeen: Instant
    /// The schema version that the replica's pushes show.
    var pushedVersion: Int?

    /// The version that callers see; a compaction continues under the next odd one.
    ///
    /// So an interrupted compaction differs from one that continues, although both present the version that they read
    /// last: after an interruption, compaction begins again under an even version, and puts the entries that it finds
    /// in the base into undos of its own. The undos of the interrupted compaction come before them, since only they
    /// hold what was in the base before the compaction began.
    var readableVersion: Int { version << 1 }

    /// Returns true if a version that was read is still the version of the ledger.
    func isCurrent(_ read: Int) -> Bool { read >> 1 == version }

    /// Returns true if a compaction with this version continues an earlier step.
    static func isContinuing(_ read: Int) -> Bool { read & 1 == 1 }
}

/// One step from a cursor down to the base.
struct LedgerStep: Sendable {
    var cursor: Int64
    var layer: Int64?
    /// The cursor below; the cursor itself if it is in the base.
    var below: Int64?
    var isExact: Bool
    var chunks: Int

    var isCompacted: Bool { below == cursor }
}

extension LedgerAnchor {
    /// The columns of the table `replica`, as `r`, in the order in which the initialiser reads them.
    static let columns = """
        r.principal, r.tip, r.base, r.folded, r.horizon, r.ledger_version, r.fold_after, r.accepted_at, r.resync_at,
        r.pushed_version, r.last_seen, r.first_seen
        """

    /// Reads the columns of a row from an index on.
    init(_ row: StoredRow, of replica: ReplicaID, from first: Int) throws {
        try self.init(
            replica: replica, principal: row.integer(first),
            tip: row.optionalInteger(first + 1).flatMap(SyncModel.Cursor.init(rawValue:)),
            base: row.optionalInteger(first + 2).map(LayerID.init(rawValue:)),
            compacted: row.optionalInteger(first + 3), horizon: row.optionalInteger(first + 4),
            version: Int(row.number(first + 5)), compactAfter: row.integer(first + 6),
            acceptedAt: row.instantSince1970(first + 7), resyncAt: row.instantSince1970(first + 8),
            lastSeen: row.instant(first + 10), firstSeen: row.instantSince1970(first + 11),
            pushedVersion: row.optionalInteger(first + 9).map(Int.init))
    }
}

extension Database {
    /// Returns the ledger's columns of a replica's row; nil if there is no such replica.
    func anchor(of replica: ReplicaID) throws -> LedgerAnchor? {
        try row(
            "SELECT \(LedgerAnchor.columns) FROM replica r WHERE r.id = ? AND r.dead = 0", [replica.rawValue]
        ).map { try LedgerAnchor($0, of: replica, from: 0) }
    }

    /// Returns the cursors from this one down to the newest that is in the base, newest first, without those that added
    /// nothing.
    ///
    /// Bounded, because a damaged or strange chain must not hold up a pull: then the rest is not exact.
    func steps(from cursor: SyncModel.Cursor, in anchor: LedgerAnchor) throws -> [LedgerStep] {
        try rows(
            """
            WITH RECURSIVE chain (cursor, layer, below, exact, steps) AS (
                SELECT cursor, layer, below, exact, 0 FROM cursor WHERE principal = ?1 AND cursor = ?2 AND replica = ?3
                UNION ALL
                SELECT c.cursor, c.layer, c.below, c.exact, chain.steps + 1
                FROM chain JOIN cursor c ON c.principal = ?1 AND c.cursor = chain.below
                WHERE chain.below < chain.cursor AND c.replica = ?3 AND chain.steps < 4096
            )
            SELECT chain.cursor, chain.layer, chain.below, chain.exact, coalesce(layer.chunks, 0)
            FROM chain LEFT JOIN layer ON layer.id = chain.layer ORDER BY chain.steps
            """, [anchor.principal, cursor.rawValue, anchor.replica.rawValue]
        ).map { row in
            try LedgerStep(
                cursor: row.integer(0), layer: row.optionalInteger(1), below: row.optionalInteger(2),
                isExact: row.integer(3) != 0, chunks: row.amount(4))
        }
    }

    /// Returns a replica's ledger as one of its cursors sees it; `first` is the step from the cursor, if it is known.
    func outline(
        of anchor: LedgerAnchor, at cursor: SyncModel.Cursor?, first: LedgerStep? = nil
    ) throws -> LedgerOutline {
        var outline = LedgerOutline(replica: anchor.replica, base: anchor.base, version: anchor.readableVersion)
        guard anchor.base != nil, let cursor else { return outline }
        // Most cursors are in the base.
        let inBase = first.flatMap { $0.isCompacted ? [$0] : nil }
        let steps = try inBase ?? steps(from: cursor, in: anchor)
        outline.deltas = steps.compactMap { $0.layer.map(LayerID.init(rawValue:)) }
        outline.deltaChunks = steps.reduce(0) { $0 + $1.chunks }
        guard let bottom = steps.last, bottom.isCompacted else {
            // It is unknown on which base the cursor was made: the present one is a superset, without ways back.
            return outline
        }
        outline.undos = try rows(
            // A parameter for the kind would have the statement prepared again each time, since SQLite would have to see
            // if the value allows for a partial index.
            """
            SELECT id FROM layer WHERE replica = ? AND kind = \(LayerKind.undo.rawValue) AND cursor > ?
            ORDER BY cursor, id
            """, [anchor.replica.rawValue, bottom.cursor]
        ).map { LayerID(rawValue: try $0.integer(0)) }
        outline.isExact = steps.first?.isExact == true && bottom.cursor >= anchor.horizon ?? 0
        return outline
    }

    /// Returns the counts of a replica's ledger as a cursor sees it, by table.
    func counts(of outline: LedgerOutline) throws -> [String: LedgerCount] {
        var total: [String: LedgerCount] = [:]
        for layer in outline.deltas + (outline.base.map { [$0] } ?? []) {
            for (table, count) in try counts(of: layer.rawValue) {
                total[table, default: LedgerCount()].held += count.held
                total[table, default: LedgerCount()].entries += count.entries
                total[table, default: LedgerCount()].bytes += count.bytes
            }
        }
        return total
    }
}
