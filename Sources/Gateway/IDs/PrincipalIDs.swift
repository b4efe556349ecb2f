// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import StateStore
import SyncModel

/// The ids that the backend has given to a principal's records, both ways.
struct PrincipalIDs: Sendable {
    /// How many mappings are in it, counted from the principal's first.
    private(set) var sequence: Int64 = 0
    /// The backend's ids by the clients', each by the place of its table in the schema.
    private(set) var backend: PackedIDs
    /// The clients' ids by the backend's, as pulls say them.
    private(set) var aliases: PackedIDs

    /// What it holds in memory, in bytes, about.
    var byteCount: Int { backend.byteCount + aliases.byteCount + 256 }

    init(key: SipHash.Key) {
        backend = PackedIDs(key: key)
        aliases = PackedIDs(key: key)
    }

    /// Whether pulls of a device call a record by another id than this one, which a client has made.
    func isHidden(_ id: String, table: Int, name: String, keeping kept: Set<VisibleIDs.Kept>) -> Bool {
        guard let known = backend[table, id] else { return false }
        return aliases[table, known] != id || kept.contains(VisibleIDs.Kept(table: name, id: known))
    }

    /// Takes the next mapping; one of a table that the configuration has no more is passed over.
    mutating func take(_ stored: StoredIDMapping, _ places: [String: Int]) {
        sequence = max(sequence, stored.sequence)
        let mapping = stored.mapping
        guard let table = places[mapping.table] else { return }
        // A record that was made once more has another id now.
        if let old = backend[table, mapping.clientID], aliases[table, old] == mapping.clientID {
            aliases.set(table: table, id: old, to: nil)
        }
        backend.set(table: table, id: mapping.clientID, to: mapping.backendID)
        guard stored.isPublic, RecordID.isSafe(mapping.clientID) else { return }
        aliases.set(table: table, id: mapping.backendID, to: mapping.clientID)
    }
}
