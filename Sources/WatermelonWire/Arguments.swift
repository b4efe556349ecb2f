// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// The arguments of a request, from its query and its body: all that it states besides changes.
struct Arguments {
    private(set) var lastPulledAt = Stated<Int64>.nothing
    private(set) var schemaVersion = Stated<Int>.nothing
    private(set) var migration = Stated<Migration>.nothing
    private let dialect: WireDialect
    private let readsMigration: Bool
    private let readsSchemaVersion: Bool

    /// Reads the arguments in the query; without `readsMigration`, migrations may be anything, since they mean nothing
    /// in a push.
    ///
    /// If a header field states the schema version, those in query and body are not even read.
    init(
        query: QueryParameters, schemaVersion: Stated<Int>, dialect: WireDialect, readsMigration: Bool
    ) throws(WireError) {
        self.dialect = dialect
        self.readsMigration = readsMigration
        readsSchemaVersion = schemaVersion.value == nil
        self.schemaVersion = readsSchemaVersion ? .nothing : schemaVersion
        for text in query.values(named: dialect.lastPulledAtNames) {
            try lastPulledAt.merge(.lastPulledAt(text: text), orThrow: .lastPulledAtTwice)
        }
        for text in query.values(named: dialect.schemaVersionNames) where readsSchemaVersion {
            try self.schemaVersion.merge(.schemaVersion(text: text), orThrow: .schemaVersionTwice)
        }
        guard readsMigration else { return }
        let reader = MigrationReader(limits: dialect.limits)
        for text in query.values(named: dialect.migrationNames) {
            try migration.merge(reader.read(text: text), orThrow: .migrationTwice)
        }
        let bracketed = query.bracketed(under: dialect.migrationNames)
        if !bracketed.isEmpty { try migration.merge(reader.read(bracketed: bracketed), orThrow: .migrationTwice) }
    }

    /// Adds the argument that a member of the body states.
    mutating func merge(_ kind: ArgumentKind, _ value: JSONSlice) throws(WireError) {
        switch kind {
        case .lastPulledAt:
            let stated = try Self.scalar(value, orThrow: .lastPulledAt) { (text) throws(WireError) in
                try Stated<Int64>.lastPulledAt(text: text)
            }
            try lastPulledAt.merge(stated, orThrow: .lastPulledAtTwice)
        case .schemaVersion:
            guard readsSchemaVersion else { return }
            let stated = try Self.scalar(value, orThrow: .schemaVersion) { (text) throws(WireError) in
                try Stated<Int>.schemaVersion(text: text)
            }
            try schemaVersion.merge(stated, orThrow: .schemaVersionTwice)
        case .migration:
            guard readsMigration else { return }
            try migration.merge(MigrationReader(limits: dialect.limits).read(value), orThrow: .migrationTwice)
        }
    }

    private static func scalar<Value>(
        _ value: JSONSlice, orThrow wrongKind: WireError, read: ([UInt8]) throws(WireError) -> Stated<Value>
    ) throws(WireError) -> Stated<Value> {
        switch value.kind {
        case .null: return .none
        case .number: return try read(Array(value.spelling.utf8))
        case .string: return try read(value.text ?? [])
        case .boolean, .array, .object: throw wrongKind
        }
    }
}
