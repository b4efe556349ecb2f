// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import StateStore
import SyncModel

/// Holds the ids that the backend has given to a principal's records, in both directions.
struct PrincipalIDs: Sendable {
    /// The sequence of the newest mapping, counted from the principal's first.
    private(set) var sequence: Int64 = 0
    /// The backend's ids by the clients', each with the index of its table in the schema.
    private(set) var backend: PackedIDs
    /// The clients' ids by the backend's, as pulls use them.
    private(set) var aliases: PackedIDs

    /// The approximate number of bytes in memory.
    var byteCount: Int { backend.byteCount + aliases.byteCount + 256 }

    init(key: SipHash.Key) {
        backend = PackedIDs(key: key)
        aliases = PackedIDs(key: key)
    }

    /// Returns true if a device's pulls list the record under another id than this one, which a client has made.
    func isHidden(_ id: String, table: Int, name: String, keeping kept: Set<VisibleIDs.Entry>) -> Bool {
        guard let known = backend[table, id] else { return false }
        return aliases[table, known] != id || kept.contains(VisibleIDs.Entry(table: name, id: known))
    }

    /// Adds the next mapping, or skips it if its table is no longer in the configuration.
    mutating func take(_ stored: StoredIDMapping, _ tables: [String: Int]) {
        sequence = max(sequence, stored.sequence)
        let mapping = stored.mapping
        guard let table = tables[mapping.table] else { return }
        // A record that was created again has another id now.
        if let old = backend[table, mapping.clientID], aliases[table, old] == mapping.clientID {
            aliases.set(table: table, id: old, to: nil)
        }
        backend.set(table: table, id: mapping.clientID, to: mapping.backendID)
        guard stored.isPublic, RecordID.isSafe(mapping.clientID) else { return }
        aliases.set(table: table, id: mapping.backendID, to: mapping.clientID)
    }
}
