// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import StateStore
import SyncMachines
import SyncModel
import WatermelonWire

/// Reads the operations of one push, one at a time: each one's sanitised record, and the backend's key of it.
struct OperationReader: Sendable {
    /// An operation's table, record, ids and treatment.
    struct Content: Sendable {
        /// The table's mapping.
        let table: Table
        /// The sanitised record; nil for a deletion.
        let record: SanitizedRecord?
        /// The part of the record that an update carries; the whole record if it is not reduced.
        let update: SanitizedRecord?
        /// The parts of the id under the backend's names; the whole id if it cannot be split.
        let key: [(path: Path, value: JSONValue)]
        /// The paths of the id's parts in the backend's records.
        let paths: [Path]
        /// The backend's id; the client's if the backend has given none.
        let id: JSONValue
        /// The decision to send, skip or refuse the operation.
        let treatment: PushedIDs.Treatment

        /// Returns the kind of operation that the backend gets.
        func kind(_ operation: PushOperation) -> OperationKind {
            if case .send(let kind) = treatment { kind } else { operation.kind }
        }
    }

    private let schema: Schema
    private let changes: PushChanges
    private let sanitizers: [RecordSanitizer]
    private let depth: Int
    private let sendsChanged: Bool
    /// Records whose updates always carry all columns, because an earlier change of them is in quarantine.
    var wholeRecords: Set<PushedRecordKey> = []
    /// Records that went out with defaults in place of values that could not be read: no such default is sent.
    var defaulted: Set<PushedRecordKey> = []
    /// Translates the client's ids to the backend's.
    var ids: PushedIDs
    /// The values of the records that have been read so far that did not fit.
    let repaired = RepairedValues()

    /// Creates a reader of one push's operations.
    ///
    /// - Parameters:
    ///   - schema: The whitelist.
    ///   - changes: The pushed changes.
    ///   - depth: The greatest nesting depth of a record.
    ///   - sendsChanged: True if updates carry only the columns that the client has changed.
    init(schema: Schema, changes: PushChanges, depth: Int, sendsChanged: Bool) {
        self.schema = schema
        self.sendsChanged = sendsChanged
        self.changes = changes
        ids = PushedIDs(schema: schema)
        sanitizers = schema.tables.map { RecordSanitizer(table: $0) }
        self.depth = depth
    }

    /// Returns the client's name of an operation's table.
    func tableName(of operation: PushOperation) -> String { schema.tables[operation.table].name }

    /// Returns the key of an operation's record in the state.
    func key(of operation: PushOperation) -> PushedRecordKey {
        PushedRecordKey(table: tableName(of: operation), id: operation.id)
    }

    /// Returns the record as the client sent it, without the columns that must not be sent; empty for a deletion.
    func bytes(of operation: PushOperation) -> [UInt8] {
        guard let range = operation.range else { return [] }
        let bytes = Array(changes.bytes[range])
        guard isDefaulted(operation),
            let record = try? JSONValue.parse(
                bytes, limits: .init(bytes: bytes.count, depth: depth, elements: bytes.count))
        else { return bytes }
        let sanitizer = sanitizers[operation.table]
        let withheld = Set(sanitizer.withoutDefaults(sanitizer.sanitize(record)).withheld)
        return JSONValue.object((record.members ?? []).filter { !withheld.contains($0.name) }).serialised
    }

    private func isDefaulted(_ operation: PushOperation) -> Bool {
        !defaulted.isEmpty && operation.kind != .delete && defaulted.contains(key(of: operation))
    }

    /// Returns the content of an operation.
    func content(of operation: PushOperation) throws -> Content {
        let table = schema.tables[operation.table]
        var treatment = ids.treatment(of: operation)
        let sanitizer = sanitizers[operation.table]
        var record = try withRecord(of: operation) { sanitizer.sanitize($0) }
        if isDefaulted(operation) { record = record.map(sanitizer.withoutDefaults) }
        if let record { repaired.note(record, operation.id, of: table.name, at: operation.range?.lowerBound ?? 0) }
        var missing: [String: PushReference] = [:]
        if ids.translates, var translated = record {
            missing = ids.translate(&translated)
            record = translated
        }
        let isPart =
            sendsChanged && operation.kind == .update && treatment == .send(.update)
            && !wholeRecords.contains(key(of: operation))
        let update = isPart ? record?.onlyChanged : record
        // A column that only a placeholder may need is no reason to refuse the record.
        if let lost = missing.first(where: { update?.value(of: $0.key) != nil }) {
            treatment = .refuse(
                "'\(lost.key)' names the record '\(lost.value.id)' of '\(schema.tables[lost.value.table].name)', "
                    + "which the backend does not have")
        }
        let reference = PushReference(table: operation.table, id: operation.id)
        let isNew = table.makesIDs && treatment == .send(.create)
        let id = isNew ? .string(operation.id) : ids.value(of: reference)
        let paths = (table.ids.first { $0.types.isEmpty } ?? table.ids.first)?.paths ?? [Path(name: "id")]
        return Content(
            table: table, record: record, update: update,
            key: paths.count > 1 ? key(reference, at: paths, of: table, in: record) : [(paths[0], id)], paths: paths,
            id: id,
            treatment: treatment)
    }

    /// Passes the record as the client sent it to `body`, as slices valid only during the call; returns nil for a
    /// deletion.
    func withRecord<R>(of operation: PushOperation, _ body: (JSONSlice) throws -> R) throws -> R? {
        guard let range = operation.range else { return nil }
        return try changes.bytes.withUnsafeBytes { bytes in
            try body(
                JSONScanner.document(UnsafeRawBufferPointer(rebasing: bytes[range]), maximumDepth: depth))
        }
    }

    /// Returns the records that an operation's record refers to, by `ref` columns and `parent`.
    ///
    /// An unreadable record refers to nothing; the error is found when the record is sent.
    func references(of operation: PushOperation) -> [PushReference] {
        let table = schema.tables[operation.table]
        let parents = table.parents.map { ($0.column, $0.table) }
        let references = table.columns.compactMap { column in column.reference.map { (column.name, $0) } }
        let found = try? withRecord(of: operation) { record in
            (parents + references).compactMap { column, target -> PushReference? in
                guard let index = schema.tables.firstIndex(where: { $0.name == target }),
                    let id = record.member(column)?.string
                else { return nil }
                return PushReference(table: index, id: id)
            }
        }
        return found ?? []
    }

    /// Returns the parts of a composite id: from the columns that hold them, or else from the id.
    private func key(
        _ reference: PushReference, at paths: [Path], of table: Table, in record: SanitizedRecord?
    ) -> [(path: Path, value: JSONValue)] {
        let known = ids.backendID(of: reference)
        let parts = RecordID.parts(of: known ?? reference.id, count: paths.count)
        return paths.enumerated().compactMap { index, path in
            if let column = record?.values.first(where: { $0.column.outgoingPath == path }) {
                return (path, column.value)
            }
            guard let part = parts?[index] else { return nil }
            let column = table.columns.first { $0.outgoingPath == path }
            guard let target = column.flatMap(ids.tableIndex) else { return (path, .string(part)) }
            // The backend has composed this id of its own ids.
            if known != nil { return (path, PushedIDs.value(part, as: schema.tables[target].idType)) }
            return (path, ids.reference(to: PushReference(table: target, id: part)) ?? .string(part))
        }
    }
}
