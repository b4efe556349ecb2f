// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

/// The rows that a commit depends on, locked and read in one round trip, so that nothing of it changes before the commit.
struct CommitBasis: Sendable {
    private var newest: Cursor?
    private var idSequence: Int64
    private var generation: Int
    private var anchor: LedgerAnchor?
    /// The replica, as far as it is known, has another life: its number is taken.
    private var isTaken: Bool
    /// The cursor below the parent, and whether the parent has added a layer; nil if there is no such row.
    private var parent: (hasLayer: Bool, below: Int64?)?
    /// The number of a new layer.
    private var nextLayer: Int64
    /// The number of chunks of the staged layer; nil if it is not there.
    private var stagedChunks: Int?
    /// The versions of the ledgers that the pull has read; nil for those that are gone.
    private var versions: [ReplicaID: Int?] = [:]

    /// Returns the statements, beginning with the one that locks the principal.
    static func statements(for pull: PullCommit) throws -> [PostgresStatement] {
        let row = pull.row
        var staged: Int64?
        if case .staged(let layer, _) = pull.ledger { staged = layer.rawValue }
        return [
            try .ensure(row.principal, at: pull.now),
            try .lock(row.principal),
            try .ensure(row.session, of: row.principal, at: pull.now),
            PostgresStatement(
                """
                UPDATE session SET last_seen = greatest(last_seen, $3) WHERE principal = $1 AND session = $2
                RETURNING generation
                """, [try .principal(row.principal), .text(row.session.rawValue), .instant(pull.now)]),
            .lockedAnchor(of: row.replica),
            PostgresStatement("SELECT 1 FROM replica WHERE id = $1", [.integer(row.replica.rawValue)]),
            PostgresStatement(
                "SELECT layer IS NOT NULL, below FROM cursor WHERE principal = $1 AND cursor = $2 AND replica = $3",
                [try .principal(row.principal), .cursor(row.parent), .integer(row.replica.rawValue)]),
            PostgresStatement(
                "SELECT chunks FROM layer WHERE id = $1 AND kind = 0 AND replica IS NULL FOR UPDATE",
                [.integer(staged)]),
            "SELECT nextval('layer_id_seq')",
        ]
            + pull.ledgersRead.keys.sorted { $0.rawValue < $1.rawValue }.map { replica in
                PostgresStatement(
                    "SELECT ledger_version FROM replica WHERE id = $1 AND NOT dead FOR SHARE",
                    [.integer(replica.rawValue)])
            }
    }

    /// Reads the results of ``statements(for:)``.
    init(_ results: [PostgresResult], _ pull: PullCommit) throws {
        guard let owner = results.row(1), let session = results.row(3), let layer = results.row(8) else {
            // The principal was forgotten at this very moment.
            throw StateError.ledgerChanged
        }
        newest = try owner.cursor(0)
        idSequence = try owner.number(2)
        generation = Int(try session.number(0))
        anchor = try results.row(4).map { try LedgerAnchor($0) }
        isTaken = results.row(5) != nil
        parent = try results.row(6).map { (try $0.bool(0), try $0.optionalInteger(1)) }
        stagedChunks = try results.row(7).map { try $0.amount(0) }
        nextLayer = try layer.integer(0)
        for (index, replica) in pull.ledgersRead.keys.sorted(by: { $0.rawValue < $1.rawValue }).enumerated() {
            versions[replica] = .some(try results.row(9 + index).map { Int(try $0.number(0)) })
        }
    }

    /// Refuses a commit that does not fit any more.
    func check(_ pull: PullCommit) throws(StateError) {
        let row = pull.row
        if let newest, row.cursor <= newest { throw .cursorTaken(newest: newest) }
        guard generation == row.generation else { throw .generationChanged(current: generation) }
        guard idSequence == row.ids.sequence else { throw .idsChanged }
        switch (pull.replica, anchor?.principal) {
        case (.new, nil) where !isTaken: break
        case (.existing, row.principal):
            guard row.parent == anchor?.tip, row.parent != nil else { throw .replicaForked(row.replica) }
        default: throw .replicaUnknown(row.replica)
        }
        for (replica, read) in pull.ledgersRead {
            guard let version = versions[replica]?.flatMap({ $0 }), read >> 1 == version else { throw .ledgerChanged }
        }
    }

    /// Returns the new cursor's standing in the ledger of its replica.
    func standing(of pull: PullCommit) throws(StateError) -> LedgerStanding {
        let hasBase = anchor?.base != nil
        switch pull.ledger {
        case .none: return LedgerStanding(layer: nil, below: below(pull), isExact: false)
        case .chunks(let chunks, _):
            if chunks.isEmpty, hasBase { return LedgerStanding(layer: nil, below: below(pull), isExact: true) }
            return take(nextLayer, pull, hasBase: hasBase)
        case .staged(let staged, _):
            guard let stagedChunks else { throw .ledgerChanged }
            if hasBase, stagedChunks == 0 { return LedgerStanding(layer: nil, below: below(pull), isExact: true) }
            return take(staged.rawValue, pull, hasBase: hasBase)
        }
    }

    /// Gives a layer to the replica: as its base if it has none, else as the delta of the new cursor.
    private func take(_ layer: Int64, _ pull: PullCommit, hasBase: Bool) -> LedgerStanding {
        guard !hasBase else {
            return LedgerStanding(layer: layer, below: below(pull), isExact: true, taken: layer)
        }
        return LedgerStanding(layer: nil, below: pull.row.cursor.rawValue, isExact: true, taken: layer, isBase: true)
    }

    /// Returns the cursor that a new one rests on: its parent, or the cursor below the parent if the parent added
    /// nothing.
    private func below(_ pull: PullCommit) -> Int64? {
        guard let compacted = anchor?.compacted, let cursor = pull.row.parent else { return nil }
        // A parent from before the ledger: the pull has compared everything with the present base.
        guard let parent, let below = parent.below else { return compacted }
        return parent.hasLayer ? cursor.rawValue : below
    }
}

/// The standing of a new cursor in the ledger of its replica.
struct LedgerStanding: Sendable {
    /// The layer that the cursor adds to the cursor below it; nil for none.
    var layer: Int64?
    /// The cursor below; the cursor itself if the base begins with it; nil if there is no ledger.
    var below: Int64?
    /// True if it is known exactly what the device holds at this cursor.
    var isExact: Bool
    /// The layer that the replica gets; nil if there is none.
    var taken: Int64?
    /// True if that layer becomes the base.
    var isBase = false

    /// Returns the statements that write the layer.
    func statements(for pull: PullCommit, limit: Int) throws -> [PostgresStatement] {
        guard let taken else { return [] }
        let row = pull.row
        let kind = isBase ? LayerKind.base : .delta
        var statements: [PostgresStatement] = []
        var counts: [String: LedgerCount] = [:]
        switch pull.ledger {
        case .none: break
        case .chunks(let chunks, let added):
            counts = added
            statements.append(
                try .makeLayer(
                    taken, kind, of: row.replica, principal: row.principal, cursor: row.cursor, at: pull.now))
            statements += try PostgresStatement.add(chunks, to: taken, limit: limit)
        case .staged(_, let added):
            counts = added
            statements.append(
                PostgresStatement(
                    "UPDATE layer SET principal = $2, replica = $3, kind = $4, cursor = $5, made_at = $6 WHERE id = $1",
                    [
                        .integer(taken), try .principal(row.principal), .integer(row.replica.rawValue),
                        .integer(kind.rawValue), .cursor(row.cursor), .instant(pull.now),
                    ]))
        }
        statements += try PostgresStatement.count(counts, in: taken)
        guard isBase else { return statements }
        return statements + [
            PostgresStatement(
                """
                UPDATE replica SET base = $3, compacted = $4, horizon = NULL, ledger_version = ledger_version + 1
                WHERE principal = $1 AND id = $2
                """,
                [try .principal(row.principal), .integer(row.replica.rawValue), .integer(taken), .cursor(row.cursor)])
        ]
    }
}
