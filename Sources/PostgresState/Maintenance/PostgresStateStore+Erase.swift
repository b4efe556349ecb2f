// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore {
    /// Locks the principals first, so that nothing is written for them meanwhile; the pages keep the deleted rows until
    /// the database's next vacuum.
    package func erase(_ principal: Principal) async throws -> [CopiedTable: Int] {
        let owner = [try PostgresParameter.principal(principal)]
        let mine = PostgresStatement.belongs("principal", to: "$1")
        let layers = "layer IN (SELECT id FROM layer WHERE \(mine))"
        let deletions: [(table: CopiedTable, condition: String)] =
            [
                (.pushFlight, "journal IN (SELECT id FROM push_journal WHERE \(mine))"), (.chunk, layers),
                (.layerCount, layers),
            ]
            + [
                CopiedTable.pushJournal, .pushQuarantine, .pushRefusal, .idMap, .pushNote, .receipt, .owed,
                .deviceTrouble, .cursor, .layer, .replica, .session, .quarantine,
            ].map { ($0, mine) }
        var statements = [
            PostgresStatement("SELECT 1 FROM principal WHERE \(mine) FOR UPDATE", owner),
            // The greatest cursor ever handed out must not become smaller when its owner is gone.
            PostgresStatement(
                """
                UPDATE meta SET value = greatest(value, (SELECT max(newest) FROM principal WHERE \(mine)))
                WHERE key = 'newest_collected'
                """, owner),
            PostgresStatement("DELETE FROM lease WHERE holder IS NULL AND \(mine)", owner),
        ]
        let first = statements.count
        for (table, condition) in deletions + [(.principal, mine)] {
            statements.append(PostgresStatement("DELETE FROM \(table.rawValue) WHERE \(condition)", owner))
        }
        let counts = try await write(statements).dropFirst(first).map(\.count)
        let tables = deletions.map(\.table) + [.principal]
        return Dictionary(uniqueKeysWithValues: zip(tables, counts)).filter { $0.value > 0 }
    }
}
