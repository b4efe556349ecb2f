// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps the ids that the backend has given to records of a principal.
package enum IDRules {
    /// The part of a mapping that its key does not have.
    struct Mapping: Coded {
        var backendID: [UInt8] = []
        var isPublic = false

        mutating func code(with coder: inout Coder) throws(StateError) {
            try coder.code(&backendID)
            try coder.code(&isPublic)
        }
    }

    private static func rowKey(_ client: PushedRecordKey, _ owner: Int64) -> RowKey {
        RowKey(.mapping, of: owner, client.keyBytes)
    }

    /// Returns the beginning of the keys of all mappings of a record of the backend; the clients' ids follow.
    private static func prefix(_ table: String, _ backendID: some Collection<UInt8>) -> [UInt8] {
        Array(table.utf8) + [0, UInt8(truncatingIfNeeded: backendID.count)] + backendID
    }

    private static func lookup(_ table: String, _ backendID: String, of owner: Int64) -> Lookup {
        .all(.backendID, of: owner, prefix: prefix(table, Array(backendID.utf8)))
    }

    private static func stored(_ row: ByteRow) throws -> StoredIDMapping {
        let (client, value) = (PushedRecordKey(keyBytes: row.key.key[...]), try Mapping(decoding: row.bytes))
        return StoredIDMapping(
            mapping: IDMapping(
                table: client.table, clientID: client.id, backendID: String(decoding: value.backendID, as: UTF8.self)),
            isPublic: value.isPublic, sequence: row.number)
    }

    /// Returns the mappings that came after a sequence, in the order of their sequences, at most 10,000.
    ///
    /// If a record was created again, its new mapping has a new sequence and replaces the earlier one.
    package static func mappings(
        after sequence: Int64, limit: Int, of account: inout Account
    ) throws -> [StoredIDMapping] {
        guard let head = try account.head(), head.idSequence > sequence else { return [] }
        return try account.rows(
            .numbered(
                .mapping, of: account.owner, after: sequence, limit: min(max(0, limit), 10_000), descending: false)
        ).map(stored)
    }

    /// Returns the mappings that contain an id, as the client's or as the backend's; at most 100.
    package static func mappings(with id: String, in table: String, of account: inout Account) throws
        -> [StoredIDMapping]
    {
        let client = PushedRecordKey(table: table, id: id)
        let lookups = [.row(rowKey(client, account.owner)), lookup(table, id, of: account.owner)]
        try account.need(lookups)
        let length = prefix(table, Array(id.utf8)).count
        let clients = try account.rows(lookups[1]).map { row in
            rowKey(
                PushedRecordKey(table: table, id: String(decoding: row.key.key.dropFirst(length), as: UTF8.self)),
                account.owner)
        }
        try account.need(clients.map(Lookup.row))
        let rows = try Set(clients + [rowKey(client, account.owner)]).compactMap { try account.rows(.row($0)).first }
        return try rows.sorted { $0.number < $1.number }.prefix(100).map(stored)
    }

    /// Writes mappings; known ones change nothing, and a record that was created again has its new id from then on.
    ///
    /// No mapping is ever deleted. Each principal has mappings of its own: clients choose their ids, so with one map
    /// for all, a push of one principal could decide the ids of another's records.
    ///
    /// - Returns: The mappings whose client id pulls do not use: the second of two client ids of one record, and ids
    ///   that may have been the backend's own.
    /// - Throws: ``StateError/invalid(_:)`` for ids that are empty or longer than 255 bytes.
    package static func save(_ added: [IDMapping], at now: Instant, in account: inout Account) throws -> [IDMapping] {
        guard !added.isEmpty else { return [] }
        try check(added)
        let owner = account.owner
        func client(_ mapping: IDMapping) -> RowKey {
            rowKey(PushedRecordKey(table: mapping.table, id: mapping.clientID), owner)
        }
        try account.need(added.map { .row(client($0)) } + added.map { lookup($0.table, $0.backendID, of: owner) })
        // The records of the backend that have a public mapping, as the loop below changes it.
        var isTaken: [Lookup: Bool] = [:]
        for mapping in added {
            let backend = lookup(mapping.table, mapping.backendID, of: owner)
            isTaken[backend] = try account.rows(backend).contains { $0.number == 1 }
        }
        for mapping in added {
            let (row, bytes) = (client(mapping), Array(mapping.backendID.utf8))
            let known = try account.value(row, as: Mapping.self)?.value
            if known?.backendID == bytes { continue }
            if let known {
                let table = mapping.table
                account.delete(
                    RowKey(.backendID, of: owner, prefix(table, known.backendID) + Array(mapping.clientID.utf8)))
                let old = lookup(table, String(decoding: known.backendID, as: UTF8.self), of: owner)
                if known.isPublic { isTaken[old] = false }
            }
            let backend = lookup(mapping.table, mapping.backendID, of: owner)
            let isPublic = !mapping.mayBeBackends && isTaken[backend] != true
            if isPublic { isTaken[backend] = true }
            let sequence = try account.withHead(at: now) { head in
                head.idSequence += 1
                return head.idSequence
            }
            let value = Mapping(backendID: bytes, isPublic: isPublic)
            try account.put(value, at: row, number: sequence)
            let second = RowKey(
                .backendID, of: owner, prefix(mapping.table, bytes) + Array(mapping.clientID.utf8))
            account.put(ByteRow(key: second, number: isPublic ? 1 : 0))
        }
        return try added.filter { try account.value(client($0), as: Mapping.self)?.value.isPublic == false }
    }

    private static func check(_ mappings: [IDMapping]) throws {
        for mapping in mappings {
            _ = try key(mapping.table, "table")
            for id in [mapping.clientID, mapping.backendID] {
                guard (1...RecordID.maximumLength).contains(id.utf8.count) else {
                    throw StateError.invalid("record id")
                }
            }
        }
    }

    /// Returns those of a client's ids that it has pushed before and that have no known id of the backend yet.
    package static func unmapped(_ ids: [IDMapping], of account: inout Account) throws -> [IDMapping] {
        guard let head = try account.head(), head.notes > 0 else { return [] }
        let owner = account.owner
        let records = ids.map { PushedRecordKey(table: $0.table, id: $0.clientID) }
        try account.need(records.flatMap { [.row(NoteRules.rowKey($0, owner)), .row(rowKey($0, owner))] })
        return try zip(ids, records).filter { _, record in
            let isMapped = try account.value(rowKey(record, owner), as: Mapping.self) != nil
            return try !isMapped && account.value(NoteRules.rowKey(record, owner), as: NoteRules.Note.self) != nil
        }.map(\.0)
    }

    /// Returns those of the backend's ids that belong to the principal's records with mapped ids.
    package static func mapped(
        _ ids: Set<String>, in table: String, of account: inout Account
    ) throws -> Set<String> {
        let table = try key(table, "table")
        guard let head = try account.head(), head.idSequence > 0 else { return [] }
        try account.need(ids.map { lookup(table, $0, of: account.owner) })
        return try ids.filter { try account.rows(lookup(table, $0, of: account.owner)).contains { $0.number == 1 } }
    }
}

/// A mapping with its sequence.
package struct StoredIDMapping: Hashable, Sendable {
    /// The mapping.
    package var mapping: IDMapping
    /// True if pulls use the client's id; among several mappings of one record this is the first.
    package var isPublic: Bool
    /// The mapping's position among the principal's mappings, counted from 1.
    package var sequence: Int64
}
