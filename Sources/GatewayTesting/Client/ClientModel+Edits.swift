// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension ClientModel {
    /// Creates a row in the app and returns its id.
    ///
    /// - Parameters:
    ///   - table: A table of the app's schema.
    ///   - id: An id of the app's own making; nil lets the library make one.
    ///   - values: The columns that are set; the others get their defaults. None of them counts as changed.
    ///   - now: The device's clock for `created_at` and `updated_at`, where the table has them.
    /// - Returns: The id.
    /// - Throws: ``ClientFailure`` where there is no such table or column, or the id is taken.
    @discardableResult
    package mutating func create(
        _ table: String, id: String? = nil, _ values: [String: ClientValue] = [:], now: Int64? = nil
    ) throws(ClientFailure) -> String {
        let columns = try columns(of: table, including: values.keys)
        let id = id ?? random.recordID()
        guard record(table, id) == nil else { throw .duplicateID(ClientKey(table, id)) }
        var row: [String: ClientValue] = [:]
        for column in columns {
            let clock = now.map { ClientValue.number(Double($0)) }
            let stamp = ["created_at", "updated_at"].contains(column.name) ? clock : nil
            row[column.name] = values[column.name] ?? stamp ?? ClientValue.defaultValue(of: column)
        }
        database.tables[table, default: ClientRows()][id] = ClientRecord(id: id, status: .created, values: row)
        return id
    }

    /// Edits a row in the app; a value that is there already is no edit.
    ///
    /// - Parameters:
    ///   - table: A table of the app's schema.
    ///   - id: The row's id.
    ///   - values: The columns to set, taken in the order of the schema.
    ///   - now: The device's clock for `updated_at`, where the table has it and something is edited.
    /// - Throws: ``ClientFailure`` where there is no such row, or a failed sync left changes pending on it.
    package mutating func update(
        _ table: String, _ id: String, with values: [String: ClientValue], now: Int64? = nil
    ) throws(ClientFailure) {
        let columns = try columns(of: table, including: values.keys)
        var record = try live(table, id)
        let before = record
        for column in columns {
            if let value = values[column.name] { record.edit(column.name, to: value) }
        }
        if let now, record != before, values["updated_at"] == nil, columns.contains(where: { $0.name == "updated_at" })
        {
            record.edit("updated_at", to: .number(Double(now)))
        }
        database.tables[table]?[id] = record
    }

    /// Deletes a row in the app: it stays as a tombstone until the deletion is pushed, be it that it never was.
    ///
    /// - Throws: ``ClientFailure`` where there is no such row, or a failed sync left changes pending on it.
    package mutating func delete(_ table: String, _ id: String) throws(ClientFailure) {
        var record = try live(table, id)
        record.status = .deleted
        database.tables[table]?[id] = record
    }

    /// Destroys a row in the app, without a tombstone: the server never hears of it.
    ///
    /// - Throws: ``ClientFailure`` where there is no such row, or a failed sync left changes pending on it.
    package mutating func purge(_ table: String, _ id: String) throws(ClientFailure) {
        _ = try live(table, id)
        database.tables[table]?[id] = nil
    }

    private func live(_ table: String, _ id: String) throws(ClientFailure) -> ClientRecord {
        let key = ClientKey(table, id)
        guard let record = record(table, id), record.status != .deleted else { throw .noSuchRecord(key) }
        guard pending[key] == nil else { throw .cannotUpdatePending(key) }
        return record
    }

    private func columns(
        of table: String, including names: some Sequence<String>
    ) throws(ClientFailure) -> [ClientSchema.Column] {
        guard let table = schema.table(named: table, at: database.version) else { throw .noSuchColumn(table) }
        let columns = table.columns(at: database.version)
        for name in names where !columns.contains(where: { $0.name == name }) {
            throw .noSuchColumn("\(table.name).\(name)")
        }
        return columns
    }
}
