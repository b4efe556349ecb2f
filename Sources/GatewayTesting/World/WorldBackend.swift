// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

// A world has one thread, on which its executor runs every task and its test does everything else.
/// Holds the models of a world: the backend and its users.
final class WorldBackend: @unchecked Sendable {
    /// The models.
    let users: Users
    /// The pushes that were applied, by their idempotency keys.
    private var applied: Set<String> = []

    init(_ users: Users) { self.users = users }

    /// One operation of a push.
    struct Operation {
        var key: SimulatedKey
        var local: SimulatedDevice.Local
        /// The id that a client has made, of a creation to which the backend gives another.
        var clientID: String?

        init(key: SimulatedKey, data: JSONValue?, isDeletion: Bool) {
            self.key = key
            local = SimulatedDevice.Local(status: isDeletion ? .deleted : .updated, record: SimulatedRecord(data))
            local.isMarkChanged = data?[SimulatedSchema.addedColumn] != nil
        }
    }

    static func operations(in body: [UInt8]) -> [Operation] {
        body.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let value = try? JSONValue.parse(Array(line)), let id = value["id"]?.string,
                let table = SimulatedTable.allCases.first(where: { $0.name == value["table"]?.string })
            else { return nil }
            return Operation(
                key: SimulatedKey(table, id), data: value["data"], isDeletion: value["op"]?.string == "delete")
        }
    }

    /// Returns true if a push with this idempotency key was never applied before, and notes it as applied.
    func isNew(_ key: String) -> Bool { applied.insert(key).inserted }

    /// Applies a push, once for each key.
    func apply(_ operations: [Operation], key: String) {
        guard isNew(key) else { return }
        for operation in operations { apply(operation) }
    }

    /// Applies an operation of the request that runs in the current task.
    func apply(_ operation: Operation) {
        let sync = WorldSync.current
        if let sync { users.checkUnseen(operation, of: sync) }
        let changed = users.backend.rows[operation.key]?.changed
        users.backend.push(operation.key, operation.local, clientID: operation.clientID)
        guard users.backend.rows[operation.key]?.changed != changed else { return }
        users.backend.rows[operation.key]?.changedBy = sync?.device
    }

    /// Applies operations later, when the gateway has given up.
    func delay(_ operations: [Operation]) { users.latePushes += operations }

    /// Reads a call's record, whose references are the backend's ids.
    func operation(on key: SimulatedKey, data: JSONValue?, isDeletion: Bool) -> Operation {
        let ids = users.backend.ids
        var operation = Operation(key: key, data: data, isDeletion: isDeletion)
        guard let table = key.table.parent, ids.makes(table), !operation.local.record.parent.isEmpty else {
            return operation
        }
        let named = operation.local.record.parent
        let parent = ids.key(table, named)
        // Of a parent that is gone before its creation was answered nobody learns the id.
        let isThere = users.backend.rows[parent] != nil
        // After the state has lost an id only the parent's line can tell it.
        let isLost = users.adrift.contains(parent) || users.adrift.contains(key) && !users.backend.isVisible(parent)
        if named == parent.id, ids.clientID(of: parent) != nil, isThere, !isLost {
            users.complain("the backend is sent \(key) in \(named), which it calls \(ids.id(of: parent))")
        }
        operation.local.record.parent = parent.id
        return operation
    }
}

extension SimulatedRecord {
    /// Reads an object of JSON; missing members have their defaults.
    init(_ value: JSONValue?) {
        self.init(value: Int(value?["value"]?.int64 ?? -1), parent: value?["parent"]?.string ?? "")
        mark = Int(value?[SimulatedSchema.addedColumn]?.int64 ?? 0)
    }

    /// Returns the record as the backend writes it.
    func json(_ key: SimulatedKey, as ids: SimulatedIDs) -> JSONValue {
        var record = self
        if let table = key.table.parent { record.parent = ids.id(of: SimulatedKey(table, parent)) }
        return record.json(id: ids.id(of: key), table: key.table, clientID: ids.clientID(of: key))
    }

    /// Returns the record as clients and backend write it.
    func json(id: String, table: SimulatedTable, version: Int = 2, clientID: String? = nil) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", .string(id)), .init("value", .number(JSONNumber(Int64(value)))),
            .init("parent", .string(parent)),
        ]
        if table == .tasks, version >= 2 {
            members.append(.init(SimulatedSchema.addedColumn, .number(JSONNumber(Int64(mark)))))
        }
        if let clientID { members.append(.init("clientId", .string(clientID))) }
        return .object(members)
    }
}
