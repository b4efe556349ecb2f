// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// An app with WatermelonDB in it, faithful to what the real client was seen to do, failures included.
///
/// It holds a database in memory and reacts to pull answers and push results as `src/sync/impl` of WatermelonDB does
/// (`applyRemote`, `fetchLocal`, `markAsSynced`). It is a value: a copy is a second device with the same database, and
/// everything that it does follows from its seed.
package struct ClientModel: Sendable {
    /// The app's use of the library.
    package struct Options: Hashable, Sendable {
        /// The library's storage adapter.
        package enum Adapter: Hashable, Sendable {
            case sqlite, loki
        }

        /// SQLite or LokiJS.
        package var adapter = Adapter.sqlite
        /// Silences the log about updates of rows that don't exist.
        package var sendCreatedAsUpdated = false
        /// True if the app returns the whole answers of pull and push, so that `experimentalStrategy` and
        /// `experimentalRejectedIds` reach the library; the documentation's app does not.
        package var passesWholeAnswer = false
        /// The version from which migrations are sent; nil sends none.
        package var migrationsEnabledAt: Int?
        /// Creates the documentation's options.
        package init() {}
    }

    /// The contents of the device's disk.
    package struct Database: Hashable, Sendable {
        /// The schema version of the app that wrote it.
        package var version: Int
        /// The rows by table.
        package var tables: [String: ClientRows] = [:]
        /// `__watermelon_last_pulled_at` as text, as the library keeps it.
        package var lastPulledAtText: String?
        /// `__watermelon_last_pulled_schema_version`.
        package var lastPulledSchemaVersion: Int?
    }

    /// The remains of a failed sync in a model that the process still holds.
    enum Pending: Hashable, Sendable {
        case update(ClientRecord)
        case destroy
    }

    /// The app's schema over all versions.
    package let schema: ClientSchema
    /// The app's use of the library.
    package var options: Options
    /// The contents of the device's disk; settable, for a state that another server left behind.
    package var database: Database
    var pending: [ClientKey: Pending] = [:]
    var isAdapterBroken = false
    var random: SeededGenerator

    /// Creates a freshly installed app.
    package init(schema: ClientSchema, version: Int = 1, options: Options = Options(), seed: UInt64) {
        self.schema = schema
        self.options = options
        database = Database(version: version)
        random = SeededGenerator(seed: seed)
    }

    /// The number that the library reads from its storage with `parseInt`; nil before the first sync.
    package var lastPulledAt: Double? {
        guard let text = database.lastPulledAtText, let number = JavaScriptNumber.parseInt(text), number != 0 else {
            return nil
        }
        return number
    }

    /// True if changes wait to be pushed.
    package var hasUnsyncedChanges: Bool {
        database.tables.values.contains { $0.all.contains { $0.status != .synced } }
    }

    /// The app's contents: the values of every row by table and id, without tombstones, with every table.
    package var contents: [String: [String: [String: ClientValue]]] {
        var contents: [String: [String: [String: ClientValue]]] = [:]
        for table in schema.tables(at: database.version) {
            let rows = database.tables[table.name]?.all.filter { $0.status != .deleted } ?? []
            contents[table.name] = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.values) })
        }
        return contents
    }

    /// Returns one row, also a tombstone.
    package func record(_ table: String, _ id: String) -> ClientRecord? { database.tables[table]?[id] }

    /// Ends the process and starts it again: what failed syncs left behind in memory is gone.
    package mutating func restart() {
        pending = [:]
        isAdapterBroken = false
    }

    /// Empties the database, as apps do when a user signs out (`unsafeResetDatabase`).
    package mutating func reset() {
        database = Database(version: database.version)
        restart()
    }

    /// Puts a copy of the disk back, made earlier on this device or on another; the app starts anew.
    ///
    /// A backup of an older app is brought to the present schema version.
    package mutating func restore(_ backup: Database) {
        let version = database.version
        database = backup
        restart()
        if backup.version < version { upgrade(to: version) }
    }

    /// Returns a second device with the same disk, whose new ids are its own.
    package mutating func clone() -> ClientModel {
        var clone = self
        clone.random = random.fork()
        clone.restart()
        return clone
    }

    /// Installs a newer app: added columns get their defaults.
    package mutating func upgrade(to version: Int) {
        precondition(version >= database.version, "an app's schema version never falls")
        for table in schema.tables(at: database.version) {
            let added = table.columns(at: version).filter { $0.since > database.version }
            database.tables[table.name]?.updateAll { record in
                for column in added { record.values[column.name] = ClientValue.defaultValue(of: column) }
            }
        }
        database.version = version
        restart()
    }
}
