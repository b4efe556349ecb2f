// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncModel

extension Database {
    /// Writes down which ids the backend has given; part of the transaction that says what was applied.
    ///
    /// A record that was made anew has a new id from then on. Where two of a client's ids mean one record of the
    /// backend, the first stays the one that pulls say.
    func save(_ mappings: [IDMapping], of principal: Int64, at now: Int64) throws {
        guard !mappings.isEmpty else { return }
        var sequence = try row("SELECT id_sequence FROM principal WHERE id = ?", [principal])?.number(0) ?? 0
        for mapping in mappings {
            let table = try key(mapping.table, "table")
            let (client, backend) = (Data(mapping.clientID.utf8), Data(mapping.backendID.utf8))
            let isKnown = try exists(
                "SELECT 1 FROM id_map WHERE principal = ? AND client_table = ? AND client_id = ? AND backend_id = ?",
                [principal, table, client, backend])
            guard !isKnown else { continue }
            sequence += 1
            try run(
                """
                INSERT INTO id_map (principal, client_table, client_id, backend_id, is_public, sequence, made_at)
                VALUES (?1, ?2, ?3, ?4, NOT EXISTS (
                    SELECT 1 FROM id_map WHERE principal = ?1 AND client_table = ?2 AND backend_id = ?4
                        AND is_public = 1 AND client_id <> ?3), ?5, ?6)
                ON CONFLICT (principal, client_table, client_id) DO UPDATE SET
                    backend_id = excluded.backend_id, is_public = excluded.is_public, sequence = excluded.sequence,
                    made_at = excluded.made_at
                """, [principal, table, client, backend, sequence, now])
        }
        try run("UPDATE principal SET id_sequence = ? WHERE id = ?", [sequence, principal])
    }
}
