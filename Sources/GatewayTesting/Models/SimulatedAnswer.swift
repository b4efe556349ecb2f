// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Holds the answer to a pull as a client reads it.
package struct SimulatedAnswer: Sendable {
    let timestamp: Int64
    private(set) var created: [SimulatedKey: SimulatedRecord] = [:]
    private(set) var updated: [SimulatedKey: SimulatedRecord] = [:]
    private(set) var deleted: Set<SimulatedKey> = []
    /// A record that came twice; clients break on it.
    private(set) var repeated: SimulatedKey?
    /// The ids under which records came, if the backend has made others of theirs.
    private(set) var names: [SimulatedKey: String] = [:]
    /// The ids by which they name their parents, likewise.
    private(set) var references: [SimulatedKey: String] = [:]
    /// Records that the device had under another id, which goes.
    private(set) var renamed: Set<SimulatedKey> = []

    /// Reads an answer of the gateway; nil if it cannot be read.
    init?(json: [UInt8]) {
        guard let value = try? JSONValue.parse(json), let timestamp = value["timestamp"]?.int64 else { return nil }
        self.timestamp = timestamp
        var seen: Set<SimulatedKey> = []
        func note(_ key: SimulatedKey) { if !seen.insert(key).inserted { repeated = key } }
        for table in SimulatedTable.allCases {
            let changes = value["changes"]?[table.name]
            for record in changes?["created"]?.array ?? [] {
                let key = SimulatedKey(table, record["id"]?.string ?? "")
                note(key)
                created[key] = SimulatedRecord(record)
            }
            for record in changes?["updated"]?.array ?? [] {
                let key = SimulatedKey(table, record["id"]?.string ?? "")
                note(key)
                updated[key] = SimulatedRecord(record)
            }
            for id in changes?["deleted"]?.array ?? [] {
                let key = SimulatedKey(table, id.string ?? "")
                note(key)
                deleted.insert(key)
            }
        }
    }

    /// Returns the answer as it concerns a device, each record by the one id that it has in the world.
    ///
    /// What goes under an id that the device does not know the record by concerns nothing; what goes under one and
    /// comes under another is renamed.
    func resolved(by ids: SimulatedIDs, for device: SimulatedDevice) -> Self {
        guard ids.isOn else { return self }
        var answer = self
        (answer.created, answer.updated, answer.deleted) = ([:], [:], [])
        func take(_ named: SimulatedKey, _ record: SimulatedRecord) -> (SimulatedKey, SimulatedRecord) {
            let key = ids.key(named.table, named.id)
            if answer.names.updateValue(named.id, forKey: key) != nil { answer.repeated = key }
            var record = record
            if let table = key.table.parent, !record.parent.isEmpty {
                answer.references[key] = record.parent
                record.parent = ids.key(table, record.parent).id
            }
            return (key, record)
        }
        for (named, record) in created.map({ take($0.key, $0.value) }) { answer.created[named] = record }
        for (named, record) in updated.map({ take($0.key, $0.value) }) { answer.updated[named] = record }
        for named in deleted {
            let key = ids.key(named.table, named.id)
            guard device.records[key] == nil || device.id(of: key) == named.id else { continue }
            if answer.names[key] == nil {
                answer.deleted.insert(key)
            } else if answer.names[key] != named.id {
                answer.renamed.insert(key)
            }
        }
        return answer
    }

    /// Names what came, array by array, each record after its table.
    package var ids: IDs {
        IDs(
            created: created.keys.sorted().map(\.description), updated: updated.keys.sorted().map(\.description),
            deleted: deleted.sorted().map(\.description))
    }

    /// The ids of an answer.
    package struct IDs: Hashable, Sendable {
        /// The new records.
        package var created: [String] = []
        /// The records that may be there already.
        package var updated: [String] = []
        /// The deleted records.
        package var deleted: [String] = []
    }

    /// Short enough for a trace.
    var summary: String {
        let rows: ([SimulatedKey: SimulatedRecord]) -> String = { rows in
            rows.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        }
        return "created [\(rows(created))] updated [\(rows(updated))] deleted \(deleted.sorted())"
    }
}
