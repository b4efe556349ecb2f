// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// The changes of one pull answer, prepared row by row and then written at once.
///
/// As in the library, rows are prepared against the database as it was before the answer, updates before deletions, and
/// a row can be prepared only once.
struct ClientBatch {
    private enum Operation {
        case insert(String, ClientRecord)
        case update(String, ClientRecord)
        case remove(ClientKey)
    }

    private let model: ClientModel
    private var operations: [Operation] = []
    /// The rows that are prepared, by this answer or by one that failed before.
    private(set) var pending: [ClientKey: ClientModel.Pending]
    private(set) var log: [ClientLogEntry] = []
    private(set) var random: SeededGenerator

    init(model: ClientModel) {
        self.model = model
        pending = model.pending
        random = model.random
    }

    /// Prepares one table's set.
    mutating func prepare(_ table: String, _ set: JSONValue, isReplacement: Bool) throws(ClientFailure) {
        let rows = model.database.tables[table] ?? ClientRows()
        let created = set["created"]?.array ?? []
        let updated = set["updated"]?.array ?? []
        for record in created { try prepare(record, of: table, in: rows, isCreated: true) }
        for record in updated { try prepare(record, of: table, in: rows, isCreated: false) }
        if model.options.sendCreatedAsUpdated, !created.isEmpty { log.append(.createdDespiteFlag(table: table)) }
        var deleted: Set<String> = []
        for entry in set["deleted"]?.array ?? [] {
            guard let id = entry.string else { throw .invalidDeletedID(table: table) }
            deleted.insert(id)
        }
        var gone = deleted.sorted().compactMap { rows[$0] }
        if isReplacement {
            let kept = Set((created + updated).compactMap { $0["id"]?.string })
            gone += rows.all.filter { !kept.contains($0.id) && !deleted.contains($0.id) && $0.status != .created }
        }
        for row in gone {
            let key = ClientKey(table, row.id)
            if row.status != .deleted {
                guard pending[key] == nil else { throw .cannotDestroyPending(key) }
                pending[key] = .destroy
            }
            operations.append(.remove(key))
        }
    }

    private mutating func prepare(
        _ remote: JSONValue, of table: String, in rows: ClientRows, isCreated: Bool
    ) throws(ClientFailure) {
        guard remote.members != nil, let idValue = remote["id"], remote["_status"] == nil, remote["_changed"] == nil
        else { throw .invalidRecord(table: table) }
        guard let id = idValue.string else {
            if idValue.isNull, model.options.adapter == .loki { throw .invalidRecord(table: table) }
            return try insert(remote, of: table, id: nil)
        }
        let key = ClientKey(table, id)
        switch rows[id]?.status {
        case nil:
            if !isCreated, !model.options.sendCreatedAsUpdated { log.append(.updatedIsUnknown(key)) }
            try insert(remote, of: table, id: id)
        case .deleted:
            guard isCreated else { return }
            log.append(.createdIsDeleted(key))
            operations.append(.remove(key))
            try insert(remote, of: table, id: id)
        case .synced, .created, .updated:
            if isCreated { log.append(.createdExists(key)) }
            try merge(remote, into: key, rows)
        }
    }

    /// Inserts a row; without a text as its id it gets one of the library's making and counts as the user's own.
    private mutating func insert(_ remote: JSONValue, of table: String, id: String?) throws(ClientFailure) {
        guard remote["__proto__"] == nil else { throw .maliciousRecord(table: table) }
        var values: [String: ClientValue] = [:]
        for column in columns(of: table) {
            values[column.name] = ClientValue(sanitising: remote[column.name], as: column)
        }
        let record = ClientRecord(
            id: id ?? random.recordID(), status: id == nil ? .created : .synced, values: values)
        operations.append(.insert(table, record))
    }

    /// Merges a row column by column: what was edited locally stays, what is missing stays, the rest is the server's.
    private mutating func merge(_ remote: JSONValue, into key: ClientKey, _ rows: ClientRows) throws(ClientFailure) {
        guard var record = rows[key.id] else { return }
        // A model that a failed sync prepared shows what it was prepared with.
        if case .update(let prepared) = pending[key] { record = prepared }
        var merged = record
        for column in columns(of: key.table) where !record.changed.contains(column.name) {
            if let value = remote[column.name] {
                merged.values[column.name] = ClientValue(sanitising: value, as: column)
            }
        }
        if merged == record { return }
        guard pending[key] == nil else { throw .cannotUpdatePending(key) }
        pending[key] = .update(merged)
        operations.append(.update(key.table, merged))
    }

    private func columns(of table: String) -> [ClientSchema.Column] {
        let version = model.database.version
        return model.schema.table(named: table, at: version)?.columns(at: version) ?? []
    }

    /// Returns the database with all changes.
    ///
    /// - Throws: ``ClientFailure/duplicateID(_:)`` if an id is inserted twice; nothing is written then.
    func committed(to database: ClientModel.Database) throws(ClientFailure) -> ClientModel.Database {
        var database = database
        // Tombstones make room before rows come back in their place; a row that was inserted is not removed again.
        for case .remove(let key) in operations { database.tables[key.table]?[key.id] = nil }
        for operation in operations {
            switch operation {
            case .insert(let table, let record):
                guard database.tables[table]?[record.id] == nil else {
                    throw .duplicateID(ClientKey(table, record.id))
                }
                database.tables[table, default: ClientRows()][record.id] = record
            case .update(let table, let record): database.tables[table]?[record.id] = record
            case .remove: break
            }
        }
        return database
    }
}
