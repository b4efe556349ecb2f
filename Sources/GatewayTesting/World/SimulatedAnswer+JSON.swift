// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

extension SimulatedAnswer {
    /// What an answer of the gateway says; nil where it cannot be read.
    init?(json: [UInt8]) {
        guard let value = try? JSONValue.parse(json), let timestamp = value["timestamp"]?.int64 else { return nil }
        self.init(timestamp: timestamp, arrays: [:])
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
}
