// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StateStore
import SyncModel

extension Database {
    /// Writes the ids that the backend has given, in the transaction that records which operations were applied.
    ///
    /// A record that was created again has its new id from then on. If two of a client's ids map to one record of the
    /// backend, pulls use the first one; they never use an id that may have been the backend's own.
    ///
    /// - Returns: The mappings whose client id pulls do not use.
    @discardableResult
    func save(_ mappings: [IDMapping], of principal: Int64, at now: Instant) throws -> [IDMapping] {
        guard !mappings.isEmpty else { return [] }
        let before = try idSequence(of: principal)
        var sequence = before
        for mapping in mappings {
            let table = try key(mapping.table, "table")
            for id in [mapping.clientID, mapping.backendID] {
                guard (1...RecordID.maximumLength).contains(id.utf8.count) else {
                    throw StateError.invalid("record id")
                }
            }
            let (client, backend) = (Data(mapping.clientID.utf8), Data(mapping.backendID.utf8))
            let isKnown = try exists(
                "SELECT 1 FROM id_map WHERE principal = ? AND client_table = ? AND client_id = ? AND backend_id = ?",
                [principal, table, client, backend])
            guard !isKnown else { continue }
            sequence += 1
            try run(
                """
                INSERT INTO id_map (principal, client_table, client_id, backend_id, is_public, sequence, made_at)
                VALUES (?1, ?2, ?3, ?4, ?7 AND NOT EXISTS (
                    SELECT 1 FROM id_map WHERE principal = ?1 AND client_table = ?2 AND backend_id = ?4
                        AND is_public = 1 AND client_id <> ?3), ?5, ?6)
                ON CONFLICT (principal, client_table, client_id) DO UPDATE SET
                    backend_id = excluded.backend_id, is_public = excluded.is_public, sequence = excluded.sequence,
                    made_at = excluded.made_at
                """, [principal, table, client, backend, sequence, now, mapping.mayBeBackends ? 0 : 1])
        }
        if sequence > before {
            try run("UPDATE principal SET id_sequence = ? WHERE id = ?", [sequence, principal])
        }
        return try mappings.filter { mapping in
            try exists(
                "SELECT 1 FROM id_map WHERE principal = ? AND client_table = ? AND client_id = ? AND is_public = 0",
                [principal, mapping.table, Data(mapping.clientID.utf8)])
        }
    }

    /// Returns the number of mappings that a principal has received so far.
    func idSequence(of principal: Int64) throws -> Int64 {
        try integer("SELECT id_sequence FROM principal WHERE id = ?", [principal]) ?? 0
    }

    /// Returns the stored form of the records that a device knows by the backend's ids; nil if there are none.
    func encoded(_ kept: Set<VisibleIDs.Entry>) throws -> Data? {
        guard !kept.isEmpty else { return nil }
        guard kept.count <= VisibleIDs.maximumKept else { throw StateError.tooLarge("list of kept ids") }
        var bytes: [UInt8] = []
        for record in kept.sorted(by: { ($0.table, $0.id) < ($1.table, $1.id) }) {
            Netstrings.append(record.table.utf8, to: &bytes)
            Netstrings.append(record.id.utf8, to: &bytes)
        }
        return Data(bytes)
    }

    /// Reads what ``encoded(_:)`` has stored.
    static func kept(_ bytes: [UInt8]) throws -> Set<VisibleIDs.Entry> {
        var rest = bytes[...]
        var kept: Set<VisibleIDs.Entry> = []
        while !rest.isEmpty {
            guard let table = Netstrings.next(in: &rest), let id = Netstrings.next(in: &rest) else {
                throw StateError.corrupt("the kept ids of a cursor cannot be read")
            }
            kept.insert(VisibleIDs.Entry(table: table, id: id))
        }
        return kept
    }
}
