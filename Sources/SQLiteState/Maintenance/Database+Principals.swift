// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
import SyncModel

/// Changes all rows of a user at an operator's command: those of the user's scopes are among them.
extension Database {
    private static let owners = "FROM principal WHERE ?1 IS NULL OR digest = ?1 OR user_digest = ?1"

    /// Distrusts the cursors of a principal, or of all; returns the number of principals.
    func distrust(because restored: RestoredBackup, of principal: Principal?, at now: Instant) throws -> Int {
        let wanted = try principal.map { try key($0.rawValue, "principal") }
        let owners = "(SELECT id \(Self.owners))"
        try run("UPDATE session SET generation = generation + 1 WHERE principal IN \(owners)", [wanted])
        try run(
            "UPDATE principal SET distrusted_at = max(distrusted_at, newest, ?2) WHERE id IN \(owners)", [wanted, now])
        let count = changesCount
        guard restored == .state else { return count }
        try run(
            """
            UPDATE replica SET resync_at = (SELECT distrusted_at FROM principal p WHERE p.id = replica.principal)
            WHERE dead = 0 AND principal IN \(owners)
            """, [wanted])
        return count
    }

    /// Deletes all rows of a principal, and returns how many of each table.
    func erase(_ principal: Principal) throws -> [CopiedTable: Int] {
        // For this connection, which is a command's own.
        try run("PRAGMA secure_delete = ON")
        var erased: [CopiedTable: Int] = [:]
        for owner in try rows("SELECT id, digest \(Self.owners)", [key(principal.rawValue, "principal")]) {
            try erase(owner.integer(0), digest: owner.text(1), into: &erased)
        }
        return erased.filter { $0.value > 0 }
    }

    private func erase(_ owner: Int64, digest: String, into erased: inout [CopiedTable: Int]) throws {
        func delete(_ table: CopiedTable, from sql: String, of value: any DatabaseValueConvertible) throws {
            try run("DELETE FROM " + sql, [value])
            erased[table, default: 0] += changesCount
        }
        let journals = "(SELECT id FROM push_journal WHERE principal = ?)"
        let replicas = "(SELECT id FROM replica WHERE principal = ?)"
        let layers = "(SELECT id FROM layer WHERE replica IN \(replicas))"
        try delete(.quarantine, from: "quarantine WHERE principal = ?", of: digest)
        try delete(.pushFlight, from: "push_flight WHERE journal IN \(journals)", of: owner)
        for table in [CopiedTable.pushJournal, .pushQuarantine, .pushRefusal, .idMap, .pushNote] {
            try delete(table, from: "\(table.rawValue) WHERE principal = ?", of: owner)
        }
        try delete(.receipt, from: "push WHERE principal = ?", of: owner)
        try delete(.owed, from: "owed WHERE replica IN \(replicas)", of: owner)
        try delete(.deviceTrouble, from: "device_trouble WHERE replica IN \(replicas)", of: owner)
        erased[.cursor, default: 0] += try deleteCursors(
            rows("SELECT principal, cursor, vector, sweeps FROM cursor WHERE principal = ?", [owner]))
        try delete(.chunk, from: "chunk WHERE layer IN \(layers)", of: owner)
        try delete(.layerCount, from: "layer_count WHERE layer IN \(layers)", of: owner)
        try run("UPDATE replica SET base = NULL WHERE principal = ?", [owner])
        try delete(.layer, from: "layer WHERE replica IN \(replicas)", of: owner)
        try delete(.replica, from: "replica WHERE principal = ?", of: owner)
        let positions = try rows("SELECT position FROM session WHERE principal = ? AND position IS NOT NULL", [owner])
        try delete(.session, from: "session WHERE principal = ?", of: owner)
        for position in positions { try dropVectorIfUnused(position.integer(0)) }
        // The greatest cursor ever handed out must not become smaller when its owner is gone.
        try run(
            """
            UPDATE meta SET value = max(value, (SELECT newest FROM principal WHERE id = ?))
            WHERE key = 'newest_collected'
            """, [owner])
        try delete(.principal, from: "principal WHERE id = ?", of: owner)
    }
}
