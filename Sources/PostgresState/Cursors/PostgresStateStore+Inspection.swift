// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
package import StateStore
package import SyncModel

extension PostgresStateStore: InspectableStore {
    /// Returns principals by ranges of the primary key and of the index of their users' digests.
    package func principals(beginningWith digits: String, limit: Int) async throws -> [Principal] {
        let first = try key(digits, "principal")
        // No digit of a digest sorts after "f".
        return try await read([
            PostgresStatement(
                """
                SELECT principal, user_digest, scope FROM principal WHERE principal >= $1 AND principal < $2
                UNION SELECT user_digest, NULL, NULL FROM principal WHERE user_digest >= $1 AND user_digest < $2
                ORDER BY 1 LIMIT $3
                """, [.text(first), .text(first + "g"), .int(page(limit))])
        ]).rows(0).map { try $0.principal(0, origin: 1) }
    }

    /// Counts along the index of the times at which replicas were seen.
    package func schemaVersions(ofLast limit: Int) async throws -> [SchemaVersionCount] {
        try await read([
            PostgresStatement(
                """
                SELECT version, count(*) FROM (
                    SELECT coalesce(schema_version, pushed_version) AS version FROM replica WHERE NOT dead
                    ORDER BY last_seen DESC LIMIT $1) seen
                GROUP BY version ORDER BY version DESC NULLS LAST
                """, [.int(page(limit))])
        ]).rows(0).map { SchemaVersionCount(version: try $0.optionalInt(0), devices: Int(try $0.number(1))) }
    }

    /// Finds a note by one key look-up.
    package func pushNote(of principal: Principal, table: String, id: String) async throws -> PushNote? {
        try await read([
            PostgresStatement(
                """
                SELECT client_table, record, state, sequence, links, shape FROM push_note
                WHERE principal = $1 AND client_table = $2 AND record = $3
                """, [.principal(principal), .table(table), .text(id)])
        ]).row(0).map { try $0.pushNote() }
    }

    /// Finds cursors by one key look-up for each layer, in one round trip.
    package func cursors(of outline: LedgerOutline) async throws -> [LayerID: Cursor] {
        let layers = outline.deltas + outline.undos
        var statements = layers.map {
            PostgresStatement("SELECT cursor FROM layer WHERE id = $1", [.integer($0.rawValue)])
        }
        statements.append(
            PostgresStatement(
                "SELECT compacted FROM replica WHERE id = $1 AND base = $2",
                [.integer(outline.replica.rawValue), .integer(outline.base?.rawValue)]))
        let results = try await read(statements)
        var cursors: [LayerID: Cursor] = [:]
        for (index, layer) in layers.enumerated() { cursors[layer] = try results.row(index)?.cursor(0) }
        if let base = outline.base { cursors[base] = try results.row(layers.count)?.cursor(0) }
        return cursors
    }
}
