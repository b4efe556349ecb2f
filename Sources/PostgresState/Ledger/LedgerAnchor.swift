// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

/// The columns of a replica that concern its ledger and its pulls.
struct LedgerAnchor: Sendable {
    var replica: ReplicaID
    var principal: Principal
    /// The newest cursor that the device has presented.
    var tip: Cursor?
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
    var firstSeen: Instant
    /// The schema version that the replica's pushes show.
    var pushedVersion: Int?

    /// The version that callers see; a compaction continues under the next odd one, which distinguishes it from one
    /// that begins again.
    var readableVersion: Int { version << 1 }

    /// Returns true if a version that was read is still the version of the ledger.
    func isCurrent(_ read: Int) -> Bool { read >> 1 == version }

    /// Returns true if a compaction with this version continues an earlier step.
    static func isContinuing(_ read: Int) -> Bool { read & 1 == 1 }
}

extension LedgerAnchor {
    /// The columns of the table `replica`, as `r`, in the order in which the initialiser reads them.
    static let columns = """
        r.id, r.principal, r.tip, r.base, r.compacted, r.horizon, r.ledger_version, r.compact_after, r.accepted_at,
        r.resync_at, r.pushed_version, r.first_seen
        """

    /// Reads the columns of a row from an index on.
    init(_ row: PostgresRow, from first: Int = 0) throws {
        try self.init(
            replica: ReplicaID(rawValue: row.integer(first)), principal: Principal(rawValue: row.text(first + 1)),
            tip: row.cursor(first + 2), base: row.optionalInteger(first + 3).map(LayerID.init(rawValue:)),
            compacted: row.optionalInteger(first + 4), horizon: row.optionalInteger(first + 5),
            version: Int(row.number(first + 6)), compactAfter: row.integer(first + 7),
            acceptedAt: row.instantSince1970(first + 8), resyncAt: row.instantSince1970(first + 9),
            firstSeen: row.instantSince1970(first + 11), pushedVersion: row.optionalInt(first + 10))
    }

    /// Returns the outline of the ledger without a cursor.
    var outline: LedgerOutline { LedgerOutline(replica: replica, base: base, version: readableVersion) }
}

extension PostgresStatement {
    /// Reads a replica that is alive.
    static func anchor(of replica: ReplicaID) -> PostgresStatement {
        PostgresStatement(
            "SELECT \(LedgerAnchor.columns) FROM replica r WHERE r.id = $1 AND NOT r.dead",
            [.integer(replica.rawValue)])
    }

    /// Reads a replica that is alive, and keeps everybody else from changing it until the end of the transaction.
    static func lockedAnchor(of replica: ReplicaID) -> PostgresStatement {
        PostgresStatement(
            "SELECT \(LedgerAnchor.columns) FROM replica r WHERE r.id = $1 AND NOT r.dead FOR UPDATE",
            [.integer(replica.rawValue)])
    }
}
