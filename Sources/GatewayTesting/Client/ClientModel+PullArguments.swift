// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

/// The arguments that the library passes to `pullChanges`.
package struct ClientPullArguments: Hashable, Sendable {
    /// Columns that were added to one table.
    package struct AddedColumns: Hashable, Sendable {
        /// The table.
        package var table: String
        /// The columns.
        package var columns: [String]
    }

    /// The gain of the schema.
    package struct Migration: Hashable, Sendable {
        /// The version that the client was last in sync with.
        package var from: Int
        /// Added tables.
        package var tables: [String]
        /// Columns added to older tables.
        package var columns: [AddedColumns]

        /// The migration as JSON.
        package var json: JSONValue {
            .object([
                .init("from", .integer(Int64(from))), .init("tables", .array(tables.map { .string($0) })),
                .init(
                    "columns",
                    .array(
                        columns.map { added in
                            .object([
                                .init("table", .string(added.table)),
                                .init("columns", .array(added.columns.map { .string($0) })),
                            ])
                        })),
            ])
        }
    }

    /// The time of the last pull; nil on the first sync.
    package var lastPulledAt: Double?
    /// The app's schema version.
    package var schemaVersion: Int
    /// The gain of the schema; nil if the library does not report it.
    package var migration: Migration?

    /// Arguments of a pull.
    package init(lastPulledAt: Double?, schemaVersion: Int, migration: Migration? = nil) {
        self.lastPulledAt = lastPulledAt
        self.schemaVersion = schemaVersion
        self.migration = migration
    }
}

extension ClientModel {
    /// Returns the arguments of the next pull.
    ///
    /// - Returns: The arguments, and the lines that the library writes to its log.
    /// - Throws: ``ClientFailure/migration(_:)``, before the server hears of the sync.
    package func pullArguments() throws(ClientFailure) -> (arguments: ClientPullArguments, log: [ClientLogEntry]) {
        var arguments = ClientPullArguments(lastPulledAt: lastPulledAt, schemaVersion: database.version)
        let current = database.version
        let stored = database.lastPulledSchemaVersion
        let log = lastPulledAt == nil && stored != nil ? [ClientLogEntry.schemaVersionBeforeFirstSync] : []
        guard let enabledAt = options.migrationsEnabledAt, enabledAt != 0 else { return (arguments, log) }
        guard enabledAt > 0 else { throw .migration("Invalid migrationsEnabledAtVersion") }
        guard enabledAt <= current else {
            throw .migration("migrationsEnabledAtVersion must not be greater than current schema version")
        }
        guard enabledAt >= schema.oldestMigration else {
            throw .migration(
                "migrationsEnabledAtVersion is too low - not possible to migrate from schema version \(enabledAt)")
        }
        if let stored, stored > current {
            throw .migration(
                "Last synced schema version (\(stored)) is greater than current schema version (\(current))")
        }
        let from = stored ?? enabledAt
        guard lastPulledAt != nil, from < current else { return (arguments, log) }
        guard from >= schema.oldestMigration else {
            throw .migration("Necessary range of migrations for sync is not available")
        }
        arguments.migration = schema.changes(from: from, to: current)
        return (arguments, log)
    }
}
