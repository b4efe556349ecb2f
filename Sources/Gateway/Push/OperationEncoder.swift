// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncEngine
import SyncModel

/// Writes operations as the lines of a stream push (`docs/BACKEND-PROTOCOL.md`).
struct OperationEncoder {
    private let base: CheckpointVector?
    private let schemaVersion: Int
    private var writer = JSONWriter()

    /// An encoder that names the token of each table's namespace in `base` as what the client knew.
    init(base: CheckpointVector?, schemaVersion: Int) {
        self.base = base
        self.schemaVersion = schemaVersion
    }

    /// The line of one operation, its newline included.
    mutating func line(_ operation: PushOperation, _ content: OperationReader.Content) -> [UInt8] {
        var line = JSONValue.object([
            .init("op", .string(operation.kind.rawValue)), .init("table", .string(content.table.name)),
            .init("id", .string(operation.id)),
        ])
        var key = JSONValue.object([])
        for part in content.key { key.set(part.value, at: part.path.steps[...]) }
        line.set(key, at: [.name("key")])
        if let record = content.record { line.set(record.data, at: [.name("data")]) }
        if let token = token(of: content.table) { line.set(.string(token), at: [.name("base")]) }
        writer.removeAll()
        writer.append(line)
        writer.append(byte: UInt8(ascii: "\n"))
        return writer.bytes
    }

    /// The client's place in the table's stream: the first upsert namespace that has a token.
    private func token(of table: Table) -> String? {
        guard let base else { return nil }
        return table.upsertTypes(at: schemaVersion).lazy.compactMap { base[$0] }.first
    }
}
