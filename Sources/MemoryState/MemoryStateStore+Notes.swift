// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore
package import SyncModel

extension MemoryStateStore {
    /// Returns the newest notes that a cursor has not seen.
    package func pushNotes(
        of principal: Principal, after sequence: Int64, madeSince time: Instant, limit: Int
    ) async throws -> [PushNote] {
        try await read {
            Array(try $0.owner(principal)?.notes.after(sequence, madeSince: time).suffix(max(0, limit)) ?? [])
        }
    }

    /// Counts the notes that a cursor has not seen.
    package func hasMorePushNotes(
        than limit: Int, of principal: Principal, after sequence: Int64
    ) async throws -> Bool {
        try await read { try $0.owner(principal)?.notes.after(sequence).count ?? 0 > max(0, limit) }
    }

    /// Writes notes.
    package func note(_ notes: [PushNote], principal: Principal, at now: Instant) async throws {
        guard !notes.isEmpty else { return }
        try await write { contents in
            try contents.withOwner(principal, at: now) { try $0.notes.write(notes, at: now) }
        }
    }

    /// Keeps only as many notes as are laid over a ledger.
    package func beginNotes(of principal: Principal) async throws -> Int64 {
        try await write { contents in
            contents.owners[principal]?.notes.keep(contents.limits.notesPerPrincipal)
            return try contents.owner(principal)?.notes.sequence ?? 0
        }
    }

    /// Forgets notes that are only *seen*.
    package func dropNotes(of principal: Principal, after sequence: Int64) async throws {
        try await write { contents in
            contents.owners[principal]?.notes.dropFresh(after: sequence)
        }
    }

    /// Returns pending redeliveries, by table and record.
    package func redeliveries(of replica: ReplicaID, at cursor: Cursor, limit: Int) async throws -> [PendingRedelivery]
    {
        try await read { contents in
            let pending = contents.replicas[replica]?.redeliveries.filter { _, redelivery in
                redelivery.delivered.map { $0 > cursor } ?? true
            }
            let sorted = (pending ?? [:]).sorted { ($0.key.table, $0.key.id) < ($1.key.table, $1.key.id) }
            return sorted.prefix(max(0, limit)).map {
                PendingRedelivery(table: $0.key.table, id: $0.key.id, count: $0.value.count)
            }
        }
    }

    /// Counts each redelivery once more.
    package func scheduleRedelivery(
        _ redeliveries: [PendingRedelivery], to replica: ReplicaID, at now: Instant
    ) async throws {
        guard !redeliveries.isEmpty else { return }
        try await write { contents in
            guard contents.replicas[replica] != nil else { return }
            for redelivery in redeliveries {
                guard RecordID.isSafe(redelivery.id) else { throw StateError.invalid("record id") }
                _ = try key(redelivery.table, "table")
                let count = contents.replicas[replica]?.redeliveries[redelivery.key]?.count ?? 0
                contents.replicas[replica]?.redeliveries[redelivery.key] = StoredRedelivery(
                    count: min(count + 1, 1_000_000), since: now)
            }
        }
    }

    /// Forgets the redeliveries of records that were pushed successfully.
    package func dropRedeliveries(_ redeliveries: [PendingRedelivery], of replica: ReplicaID) async throws {
        try await write { contents in
            for redelivery in redeliveries { contents.replicas[replica]?.redeliveries[redelivery.key] = nil }
        }
    }

    /// Returns mappings by their sequences.
    package func idMappings(
        of principal: Principal, after sequence: Int64, limit: Int
    ) async throws -> [StoredIDMapping] {
        try await read { contents in
            let mappings = try contents.owner(principal)?.ids.mappings ?? []
            return Array(mappings.filter { $0.sequence > sequence }.prefix(page(limit)))
        }
    }

    /// Writes mappings.
    package func saveMappings(
        _ mappings: [IDMapping], principal: Principal, at now: Instant
    ) async throws -> [IDMapping] {
        guard !mappings.isEmpty else { return [] }
        return try await write { contents in
            try contents.withOwner(principal, at: now) { try $0.ids.save(mappings) }
        }
    }

    /// Returns the mappings that contain an id, as the client's or as the backend's.
    package func idMappings(
        of principal: Principal, table: String, id: String
    ) async throws -> [StoredIDMapping] {
        try await read { contents in
            let found = try contents.owner(principal)?.ids.mappings.filter { stored in
                stored.mapping.table == table
                    && [stored.mapping.clientID, stored.mapping.backendID].contains { $0.utf8.elementsEqual(id.utf8) }
            }
            return Array((found ?? []).prefix(100))
        }
    }

    /// Returns the ids that were pushed and have no id of the backend yet.
    package func unmappedPushes(_ ids: [IDMapping], of principal: Principal) async throws -> [IDMapping] {
        try await read { contents in
            guard let owner = try contents.owner(principal) else { return [] }
            return ids.filter { mapping in
                let client = PushedRecordKey(table: mapping.table, id: mapping.clientID)
                return owner.notes.notes[client] != nil && owner.ids.mapping(of: client) == nil
            }
        }
    }
}
