// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import StateStore
import SyncEngine
import SyncModel
import WatermelonWire

/// Reads the operations of one push, one at a time: the record behind each, sanitised, and the key that the backend
/// knows it by.
struct OperationReader: Sendable {
    /// An operation with what it carries.
    struct Content: Sendable {
        /// The table's mapping.
        let table: Table
        /// The sanitised record; nil for a deletion.
        let record: SanitizedRecord?
        /// What of it an update carries.
        let update: SanitizedRecord?
        /// The parts of the id under the backend's names; the whole id where it cannot be taken apart.
        let key: [(path: Path, value: JSONValue)]
    }

    private let schema: Schema
    private let changes: PushChanges
    private let sanitizers: [RecordSanitizer]
    private let limits: JSONValue.Limits
    private let sendsChanged: Bool
    /// Records of which updates carry everything all the same, since an earlier change of them was set aside.
    var wholeRecords: Set<PushedRecordKey> = []

    /// - Parameters:
    ///   - schema: The whitelist.
    ///   - changes: What was pushed.
    ///   - depth: How deep a record may be nested.
    ///   - sendsChanged: Whether updates carry only what the client has changed.
    init(schema: Schema, changes: PushChanges, depth: Int, sendsChanged: Bool) {
        self.schema = schema
        self.sendsChanged = sendsChanged
        self.changes = changes
        sanitizers = schema.tables.map { RecordSanitizer(table: $0, depth: depth) }
        limits = JSONValue.Limits(bytes: changes.bytes.count, depth: depth, elements: changes.bytes.count)
    }

    /// The client's name of an operation's table.
    func tableName(of operation: PushOperation) -> String { schema.tables[operation.table].name }

    /// What names an operation's record in the state.
    func key(of operation: PushOperation) -> PushedRecordKey {
        PushedRecordKey(table: tableName(of: operation), id: operation.id)
    }

    /// The record as the client sent it; empty for a deletion.
    func bytes(of operation: PushOperation) -> [UInt8] { operation.range.map { Array(changes.bytes[$0]) } ?? [] }

    /// The content of an operation.
    func content(of operation: PushOperation) throws -> Content {
        let table = schema.tables[operation.table]
        let record = try self.record(of: operation).map { sanitizers[operation.table].sanitize($0) }
        let isPart = sendsChanged && operation.kind == .update && !wholeRecords.contains(key(of: operation))
        let update = isPart ? record?.onlyChanged : record
        return Content(table: table, record: record, update: update, key: key(of: operation, table, record))
    }

    /// The record as the client sent it; nil for a deletion.
    private func record(of operation: PushOperation) throws -> JSONValue? {
        guard let range = operation.range else { return nil }
        return try changes.bytes.withUnsafeBytes { bytes in
            try JSONValue.parse(UnsafeRawBufferPointer(rebasing: bytes[range]), limits: limits)
        }
    }

    /// The record as the client sent it, as slices for as long as `body` runs; nil for a deletion.
    func withRecord<R>(of operation: PushOperation, _ body: (JSONSlice) throws -> R) throws -> R? {
        guard let range = operation.range else { return nil }
        return try changes.bytes.withUnsafeBytes { bytes in
            try body(
                JSONScanner.document(UnsafeRawBufferPointer(rebasing: bytes[range]), maximumDepth: limits.depth))
        }
    }

    /// The records that an operation's record refers to, by `ref` columns and `parent`.
    ///
    /// A record that cannot be read refers to nothing; that it cannot is found out when it is its turn.
    func references(of operation: PushOperation) -> [PushReference] {
        let table = schema.tables[operation.table]
        let parents = table.parents.map { ($0.column, $0.table) }
        let references = table.columns.compactMap { column in column.reference.map { (column.name, $0) } }
        let found = try? withRecord(of: operation) { record in
            (parents + references).compactMap { column, target -> PushReference? in
                guard let place = schema.tables.firstIndex(where: { $0.name == target }),
                    let id = record.member(column)?.string
                else { return nil }
                return PushReference(table: place, id: id)
            }
        }
        return found ?? []
    }

    /// One path is the id itself; the parts of a composite id come from the columns that hold them, else from the id.
    private func key(
        of operation: PushOperation, _ table: Table, _ record: SanitizedRecord?
    ) -> [(path: Path, value: JSONValue)] {
        let paths = (table.ids.first { $0.types.isEmpty } ?? table.ids.first)?.paths ?? [Path(name: "id")]
        guard paths.count > 1 else { return [(paths[0], .string(operation.id))] }
        let parts = RecordID.parts(of: operation.id, count: paths.count)
        return paths.enumerated().compactMap { index, path in
            if let column = record?.values.first(where: { $0.column.outgoingPath == path }) {
                return (path, column.value)
            }
            return parts.map { (path, .string($0[index])) }
        }
    }
}
