// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Keeps the ids that the backend has given to records of one principal.
struct IDMap: Sendable {
    /// The number of mappings so far.
    private(set) var sequence: Int64 = 0
    /// The mappings in the order of their sequences.
    private(set) var mappings: [StoredIDMapping] = []

    func mapping(of client: PushedRecordKey) -> StoredIDMapping? {
        mappings.first { PushedRecordKey(table: $0.mapping.table, id: $0.mapping.clientID) == client }
    }

    /// Returns the mapping that pulls use for a record of the backend.
    func publicMapping(of backend: PushedRecordKey) -> StoredIDMapping? {
        mappings.first { $0.isPublic && PushedRecordKey(table: $0.mapping.table, id: $0.mapping.backendID) == backend }
    }

    /// Writes mappings; a record that was created again has its new id from then on.
    ///
    /// - Returns: The mappings whose client id pulls do not use: the second of two client ids of one record, and ids
    ///   that may have been the backend's own.
    mutating func save(_ added: [IDMapping]) throws(StateError) -> [IDMapping] {
        for mapping in added {
            _ = try key(mapping.table, "table")
            for id in [mapping.clientID, mapping.backendID] {
                guard (1...RecordID.maximumLength).contains(id.utf8.count) else { throw .invalid("record id") }
            }
            let client = PushedRecordKey(table: mapping.table, id: mapping.clientID)
            let backend = PushedRecordKey(table: mapping.table, id: mapping.backendID)
            let known = self.mapping(of: client)
            if let known, PushedRecordKey(table: mapping.table, id: known.mapping.backendID) == backend { continue }
            mappings.removeAll { $0.sequence == known?.sequence }
            sequence += 1
            var stored = mapping
            stored.mayBeBackends = false
            mappings.append(
                StoredIDMapping(
                    mapping: stored, isPublic: !mapping.mayBeBackends && publicMapping(of: backend) == nil,
                    sequence: sequence))
        }
        return added.filter {
            mapping(of: PushedRecordKey(table: $0.table, id: $0.clientID))?.isPublic == false
        }
    }
}
