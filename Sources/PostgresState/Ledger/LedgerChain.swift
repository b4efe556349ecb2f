// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

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

/// The steps and layers under a cursor in its replica's ledger, read by one statement.
struct LedgerChain: Sendable {
    /// The steps from the cursor down to the newest that is in the base, newest first, without those that added nothing.
    var steps: [LedgerStep] = []
    /// The undos for the cursors above the last step, in the order of these.
    var undos: [LayerID] = []
    /// The counts of the base and the deltas, by table.
    var counts: [String: LedgerCount] = [:]

    /// The kinds of rows that the statement returns.
    private enum Part: Int64 {
        case step = 0
        case undo = 1
        case count = 2
    }

    /// Reads the result of ``PostgresStatement/chain(from:of:)``.
    init(_ rows: [PostgresRow]) throws {
        for row in rows {
            switch Part(rawValue: try row.integer(0)) {
            case .step:
                steps.append(
                    LedgerStep(
                        cursor: try row.integer(1), layer: try row.optionalInteger(2),
                        below: try row.optionalInteger(3), isExact: try row.integer(4) != 0,
                        chunks: try row.amount(5)))
            case .undo: undos.append(LayerID(rawValue: try row.integer(2)))
            case .count:
                counts[try row.text(6)] = LedgerCount(
                    held: try row.amount(2), entries: try row.amount(3), bytes: try row.amount(4))
            case nil: throw PostgresError.unexpectedValue(column: 0)
            }
        }
    }

    /// Returns the ledger as the cursor sees it.
    func outline(_ anchor: LedgerAnchor) -> LedgerOutline {
        var outline = anchor.outline
        guard outline.base != nil else { return outline }
        outline.deltas = steps.compactMap { $0.layer.map(LayerID.init(rawValue:)) }
        outline.deltaChunks = steps.reduce(0) { $0 + $1.chunks }
        // Else it is unknown on which base the cursor was made: the present one is a superset, without ways back.
        guard let bottom = steps.last, bottom.isCompacted else { return outline }
        outline.undos = undos
        outline.isExact = steps.first?.isExact == true && bottom.cursor >= anchor.horizon ?? 0
        return outline
    }
}

extension PostgresStatement {
    /// Reads what lies under a cursor: its steps, the undos, the counts.
    ///
    /// Bounded, because a damaged or strange chain must not hold up a pull: then the rest is not exact.
    static func chain(from cursor: Cursor, of principal: Principal) throws -> PostgresStatement {
        PostgresStatement(
            """
            WITH RECURSIVE chain (replica, cursor, layer, below, exact, steps) AS (
                SELECT replica, cursor, layer, below, exact, 0 FROM cursor WHERE principal = $1 AND cursor = $2
                UNION ALL
                SELECT c.replica, c.cursor, c.layer, c.below, c.exact, chain.steps + 1
                FROM chain JOIN cursor c ON c.principal = $1 AND c.cursor = chain.below
                WHERE chain.below < chain.cursor AND c.replica = chain.replica AND chain.steps < 4096
            ), layers (layer) AS (
                SELECT layer FROM chain WHERE layer IS NOT NULL
                UNION ALL
                SELECT r.base FROM replica r
                WHERE r.principal = $1 AND r.id = (SELECT replica FROM chain WHERE steps = 0) AND r.base IS NOT NULL
            ), parts (part, a, b, c, d, e, name, place) AS (
                SELECT 0::bigint, chain.cursor, chain.layer, chain.below,
                    CASE WHEN chain.exact THEN 1::bigint ELSE 0 END, coalesce(layer.chunks, 0), '', chain.steps::bigint
                FROM chain LEFT JOIN layer ON layer.id = chain.layer
                UNION ALL
                SELECT 1, l.cursor, l.id, NULL, NULL, NULL, '', l.cursor FROM layer l
                WHERE l.replica = (SELECT replica FROM chain WHERE steps = 0) AND l.kind = 3
                    AND l.cursor > (SELECT cursor FROM chain ORDER BY steps DESC LIMIT 1)
                UNION ALL
                SELECT 2, NULL, sum(n.held)::bigint, sum(n.entries)::bigint, sum(n.bytes)::bigint, NULL,
                    n.client_table, 0
                FROM layers JOIN layer_count n ON n.layer = layers.layer GROUP BY n.client_table
            )
            SELECT part, a, b, c, d, e, name FROM parts ORDER BY part, place, b
            """, [try .principal(principal), .cursor(cursor)])
    }
}
