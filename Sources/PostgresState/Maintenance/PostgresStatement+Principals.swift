// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore
import SyncModel

/// Changes all rows of a user at an operator's command: those of the user's scopes are among them.
extension PostgresStatement {
    /// Distrusts the cursors of a principal, or of all; the first statement changes a row for each principal.
    static func distrust(
        because restored: RestoredBackup, of principal: Principal?, at now: Instant
    ) throws -> [PostgresStatement] {
        let one = try principal.map { [try PostgresParameter.principal($0)] } ?? []
        let filter = principal == nil ? "true" : belongs("principal", to: "$1")
        let statements = [
            PostgresStatement(
                """
                UPDATE principal SET distrusted_at = greatest(distrusted_at, newest, $\(one.count + 1))
                WHERE \(filter)
                """, one + [.instant(now)]),
            PostgresStatement(
                "UPDATE session SET generation = generation + 1, position = NULL WHERE \(filter)", one),
        ]
        guard restored == .state else { return statements }
        return statements + [
            PostgresStatement(
                """
                UPDATE replica SET resync_at = p.distrusted_at
                FROM (SELECT principal AS owner, distrusted_at FROM principal) p
                WHERE owner = replica.principal AND NOT dead AND \(filter)
                """, one)
        ]
    }

    /// Deletes all rows of a principal: what comes before the deletions, and a deletion for each table.
    static func erasure(
        of principal: Principal
    ) throws -> (first: [PostgresStatement], deletions: [(table: CopiedTable, statement: PostgresStatement)]) {
        let owner = [try PostgresParameter.principal(principal)]
        let mine = belongs("principal", to: "$1")
        func deletion(_ table: CopiedTable, where condition: String) -> (CopiedTable, PostgresStatement) {
            (table, PostgresStatement("DELETE FROM \(table.rawValue) WHERE \(condition)", owner))
        }
        let first = [
            PostgresStatement("SELECT 1 FROM principal WHERE \(mine) FOR UPDATE", owner),
            // The greatest cursor ever handed out must not become smaller when its owner is gone.
            PostgresStatement(
                """
                UPDATE meta SET value = greatest(value, (SELECT max(newest) FROM principal WHERE \(mine)))
                WHERE key = 'newest_collected'
                """, owner),
            PostgresStatement("DELETE FROM lease WHERE holder IS NULL AND \(mine)", owner),
        ]
        let layers = "layer IN (SELECT id FROM layer WHERE \(mine))"
        let ofOthers = [
            deletion(.pushFlight, where: "journal IN (SELECT id FROM push_journal WHERE \(mine))"),
            deletion(.chunk, where: layers), deletion(.layerCount, where: layers),
        ]
        let own: [CopiedTable] = [
            .pushJournal, .pushQuarantine, .pushRefusal, .idMap, .pushNote, .receipt, .owed, .deviceTrouble, .cursor,
            .layer, .replica, .session, .quarantine, .principal,
        ]
        return (first, ofOthers + own.map { deletion($0, where: mine) })
    }
}
