// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// All configured tables and the schema versions that clients may have.
package struct Schema: Hashable, Sendable {
    /// The newest version in the configuration.
    package var version: Int
    /// The oldest version that is still served.
    package var oldest: Int
    /// The version from which migrations are sent; nil if it is not configured.
    package var migrationsEnabledAt: Int?
    /// The tables in the order of the configuration.
    package var tables: [Table]

    /// Creates a schema of these tables.
    package init(version: Int = 1, oldest: Int = 1, migrationsEnabledAt: Int? = nil, tables: [Table]) {
        self.version = version
        self.oldest = oldest
        self.migrationsEnabledAt = migrationsEnabledAt
        self.tables = tables
    }

    /// Returns the table of this name.
    package func table(named name: String) -> Table? { tables.first { $0.name == name } }

    /// Returns the tables that a client of this schema version has.
    package func tables(at schemaVersion: Int) -> [Table] { tables.filter { $0.since <= schemaVersion } }

    /// The served versions that change something, in ascending order, beginning with the oldest.
    ///
    /// A client of a version in between sees what a client of the version listed before it sees.
    package var versions: [Int] {
        let changes = tables.flatMap { table in
            [table.since] + table.columns.map(\.since) + table.feeds.flatMap { $0.versions.map(\.since) }
        }
        return Set([oldest] + changes.filter { $0 > oldest && $0 <= version }).sorted()
    }

    /// Lists the request types of a stream request for this schema version, each once, in the order of the
    /// configuration.
    package func requestTypes(at schemaVersion: Int) -> [String] {
        var seen: Set<String> = []
        return tables(at: schemaVersion)
            .flatMap { $0.feeds.compactMap { $0.version(at: schemaVersion)?.requestType } }
            .filter { seen.insert($0).inserted }
    }
}
