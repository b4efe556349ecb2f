// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import LineProjection
import SyncMachines
import SyncModel

/// Translates the ids that a client pushes into the backend's.
///
/// Belongs to one push, and learns the backend's ids of the records that the push creates.
struct PushedIDs: Sendable {
    /// The decision about an operation.
    enum Treatment: Hashable, Sendable {
        /// The operation is sent, possibly as another kind than the client's.
        case send(OperationKind)
        /// The client deletes a record that the backend has never had.
        case nothing
        /// The operation can never be sent; the sentence is for the operator, the obstacle gives the stable code.
        case refuse(String, PushRefusal.Obstacle? = nil)
    }

    private let schema: Schema
    private let known: PrincipalIDs?
    private let maximum: Int
    private var learned: [PushReference: String] = [:]
    /// Records that the push creates although the device has got them from the backend, under these very ids.
    var held: Set<PushReference> = []
    /// Records that the push has yet to create, and those whose creation is in quarantine.
    var unmade: Set<PushReference> = []
    /// Records whose ids the backend itself resolves within the single request that creates them.
    var inOneRequest: Set<PushReference> = []
    /// True if any table needs more than the client's own ids.
    let translates: Bool

    /// Creates the ids of one push.
    ///
    /// - Parameters:
    ///   - schema: The configured schema.
    ///   - known: The principal's mappings so far.
    ///   - maximum: The greatest number of mappings that the principal may have.
    init(schema: Schema, known: PrincipalIDs? = nil, maximum: Int = .max) {
        self.schema = schema
        self.known = known
        self.maximum = maximum
        translates = schema.tables.contains { $0.hasOwnIDs || $0.idType == .integer } || known != nil
    }

    /// Returns the backend's id of a record that a client has created; nil if none is known.
    func backendID(of record: PushReference) -> String? {
        learned[record] ?? known?.backend[record.table, record.id]
    }

    /// Learns the backend's id of a record.
    mutating func learn(_ mapping: IDMapping) {
        guard let table = schema.tables.firstIndex(where: { $0.name == mapping.table }) else { return }
        learned[PushReference(table: table, id: mapping.clientID)] = mapping.backendID
    }

    /// True if there is no room for further ids of the principal.
    var isFull: Bool { known.map { $0.backend.count >= maximum } ?? false }

    /// Decides what is done with an operation.
    func treatment(of operation: PushOperation) -> Treatment {
        guard RecordID.fits(operation.id) else {
            return .refuse("an id has 1 to \(RecordID.maximumLength) bytes", .unsafeID)
        }
        let treatment = treatmentWithRoom(of: operation)
        guard isFull, treatment == .send(.create), schema.tables[operation.table].hasOwnIDs,
            backendID(of: PushReference(table: operation.table, id: operation.id)) == nil
        else { return treatment }
        return .refuse("the ids of \(maximum) records of the user are kept already (push.too_many_ids)")
    }

    private func treatmentWithRoom(of operation: PushOperation) -> Treatment {
        let table = schema.tables[operation.table]
        guard table.makesIDs else { return .send(operation.kind) }
        let record = PushReference(table: operation.table, id: operation.id)
        let isKnown = backendID(of: record) != nil
        let canBeBackends = table.idType == .text || Self.isInteger(operation.id)
        switch operation.kind {
        // Rules 2 to 4 of the protocol's pushes, by what is known about the id.
        case .create where isKnown || held.contains(record): return .send(.update)
        case .create where !RecordID.isSafe(operation.id):
            return .refuse("no device could get a record with such an id back")
        case .create where table.idType == .integer && canBeBackends:
            return .refuse("an id of digits alone could be another record's: the backend's ids are numbers")
        case .update where !isKnown && !canBeBackends: return .send(.create)
        case .delete where !isKnown && !canBeBackends: return .nothing
        case .create, .update, .delete: return .send(operation.kind)
        }
    }

    /// Returns a record's id in the backend's form.
    func value(of record: PushReference) -> JSONValue {
        Self.value(backendID(of: record) ?? record.id, as: schema.tables[record.table].idType)
    }

    /// Returns a reference in the backend's form; nil if the backend cannot have such a record.
    func reference(to record: PushReference) -> JSONValue? {
        let type = schema.tables[record.table].idType
        if let id = backendID(of: record) { return Self.value(id, as: type) }
        if type == .text || Self.isInteger(record.id), !unmade.contains(record) {
            return Self.value(record.id, as: type)
        }
        return inOneRequest.contains(record) ? .string(record.id) : nil
    }

    /// Puts the backend's ids into the columns that refer to records.
    ///
    /// - Returns: The columns that refer to records which the backend does not have, with their tables and ids.
    func translate(_ record: inout SanitizedRecord) -> [String: PushReference] {
        var missing: [String: PushReference] = [:]
        for index in record.values.indices {
            let (column, value) = record.values[index]
            guard let target = tableIndex(of: column), let id = value.string, !id.isEmpty else { continue }
            let reference = PushReference(table: target, id: id)
            if let value = self.reference(to: reference) {
                record.values[index].value = value
            } else {
                missing[column.name] = reference
            }
        }
        return missing
    }

    /// Returns the index of the table that a column refers to.
    func tableIndex(of column: Column) -> Int? {
        guard column.type == .string, let name = column.reference else { return nil }
        return schema.tables.firstIndex { $0.name == name }
    }

    /// Returns true if a text is a whole number in the only spelling that ids have.
    static func isInteger(_ text: String) -> Bool {
        var digits = text.utf8[...]
        if digits.first == UInt8(ascii: "-") { digits = digits.dropFirst() }
        guard (1...20).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
        return digits.first != 0x30 || text == "0"
    }

    /// Returns an id of the backend as a JSON value of the table's id type.
    static func value(_ id: String, as type: Table.IDType) -> JSONValue {
        if type == .integer, isInteger(id), let number = JSONNumber(spelling: id) { return .number(number) }
        return .string(id)
    }
}
