// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Logging
import Postgres
package import StateStore

/// A state in PostgreSQL that is copied, or that another one is copied into.
///
/// The tables have the names and columns of ``CopiedTable``.
package final class PostgresStateCopy: CopyTarget {
    /// The location of the state without secrets.
    package let location: String
    private let pool: PostgresPool
    private let timeout: Duration

    private init(pool: PostgresPool, _ options: PostgresStateStore.Options) {
        self.pool = pool
        timeout = options.timeout
        location = "\(pool.info) schema=\(options.schema)"
    }

    /// Opens a state that is read; changes nothing.
    ///
    /// - Throws: ``StateError``.
    package static func openSource(
        _ options: PostgresStateStore.Options, logger: Logger
    ) async throws -> PostgresStateCopy {
        try await open(options, logger) { pool in try await PostgresStateStore.requireUsable(pool, options) }
    }

    /// Opens a state that is filled; creates it if there is none, and brings its schema up to date.
    ///
    /// - Throws: ``StateError``.
    package static func openTarget(
        _ options: PostgresStateStore.Options, logger: Logger
    ) async throws -> PostgresStateCopy {
        var options = options
        options.takesUnfinished = true
        return try await open(options, logger) { pool in _ = try await PostgresStateStore.migrate(pool, options) }
    }

    private static func open(
        _ options: PostgresStateStore.Options, _ logger: Logger, preparing prepare: (PostgresPool) async throws -> Void
    ) async throws -> PostgresStateCopy {
        let pool = try PostgresStateStore.start(options, logger)
        do {
            try await prepare(pool)
            // A newer schema that this version can use has columns that this version does not copy.
            let known = options.migrations.last?.number ?? 0
            if case .usable(let found) = try await PostgresStateStore.standing(pool, options), found > known {
                throw StateError.schemaNewer(found: found, known: known)
            }
        } catch {
            await pool.shutdown()
            throw StateError.wrapping(error)
        }
        return PostgresStateCopy(pool: pool, options)
    }

    /// Closes the connections.
    package func close() async { await pool.shutdown() }

    private func query(_ sql: String, _ parameters: [PostgresParameter] = []) async throws -> [PostgresRow] {
        do {
            return try await pool.query(PostgresStatement(sql, parameters), .readOnly, within: timeout).rows
        } catch {
            throw StateError.wrapping(error)
        }
    }

    private func write(_ statements: [PostgresStatement]) async throws {
        do {
            _ = try await pool.pipeline(statements, .readWrite, within: timeout)
        } catch {
            throw StateError.wrapping(error)
        }
    }
}

extension PostgresStateCopy {
    /// Returns the rows after a key.
    package func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) async throws -> [CopiedRow] {
        let columns = table.columns
        let keys = columns.prefix(table.keyCount)
        var conditions: [String] = []
        if key != nil {
            conditions = ["(\(keys.map(\.name).joined(separator: ", "))) > (\(parameters(1...keys.count)))"]
        }
        if table == .meta { conditions.append(Self.isCopied) }
        let rows = try await query(
            """
            SELECT \(columns.map { $0.selection(from: table) }.joined(separator: ", ")) FROM \(table.rawValue)
            \(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "))
            ORDER BY \(keys.map(\.name).joined(separator: ", ")) LIMIT \(limit)
            """, zip(keys, key ?? []).map { try $0.parameter($1) })
        return try rows.map { row in try columns.enumerated().map { try $1.value(row, $0) } }
    }

    /// Returns the last number that the table's sequence has given.
    package func numbers(of table: CopiedTable) async throws -> Int64 {
        guard let column = table.numbered else { return 0 }
        let given = try await query("SELECT coalesce(pg_sequence_last_value(\(sequence(table, column))), 0)")
        let greatest = try await query("SELECT coalesce(max(\(column)), 0) FROM \(table.rawValue)")
        return max(try given.first?.integer(0) ?? 0, try greatest.first?.integer(0) ?? 0)
    }

    /// Looks for the mark, and for rows.
    package func standing() async throws -> CopyStanding {
        if try await !query("SELECT 1 FROM meta WHERE key = '\(CopiedTable.unfinishedMark)'").isEmpty {
            return .unfinished
        }
        for table in CopiedTable.allCases where table != .meta {
            if try await !query("SELECT 1 FROM \(table.rawValue) LIMIT 1").isEmpty { return .inUse }
        }
        return .empty
    }

    /// Adds the mark, and removes what a gateway without devices may have left in `meta`.
    package func mark() async throws {
        try await write([
            PostgresStatement("DELETE FROM meta WHERE \(Self.isCopied)"),
            PostgresStatement("INSERT INTO meta (key, value) VALUES ('\(CopiedTable.unfinishedMark)', 1)"),
        ])
    }

    /// Reads the end of the primary key's index.
    package func lastKey(of table: CopiedTable) async throws -> CopiedRow? {
        let keys = table.columns.prefix(table.keyCount)
        let row = try await query(
            """
            SELECT \(keys.map(\.name).joined(separator: ", ")) FROM \(table.rawValue)
            ORDER BY \(keys.map { $0.name + " DESC" }.joined(separator: ", ")) LIMIT 1
            """
        ).first
        return try row.map { row in try keys.enumerated().map { try $1.value(row, $0) } }
    }

    /// Inserts the rows in one round trip.
    package func add(_ rows: [CopiedRow], to table: CopiedTable) async throws {
        let columns = table.columns
        let sql = """
            INSERT INTO \(table.rawValue) (\(columns.map(\.name).joined(separator: ", ")))
            VALUES (\(parameters(1...columns.count)))
            """
        let statement = table == .meta ? sql + " ON CONFLICT (key) DO UPDATE SET value = excluded.value" : sql
        try await write(
            try rows.map { row in PostgresStatement(statement, try zip(columns, row).map { try $0.parameter($1) }) })
    }

    /// Sets the table's sequence.
    package func setNumbers(of table: CopiedTable, to number: Int64) async throws {
        guard let column = table.numbered, number > 0 else { return }
        try await write([PostgresStatement("SELECT setval(\(sequence(table, column)), $1)", [.integer(number)])])
    }

    /// Removes the mark; few of these tables check each other.
    package func finish() async throws {
        try await write([PostgresStatement("DELETE FROM meta WHERE key = '\(CopiedTable.unfinishedMark)'")])
    }

    private static let isCopied =
        "key NOT IN (\(CopiedTable.ownEntries.map { "'\($0)'" }.joined(separator: ", ")))"

    /// Returns the name of the sequence behind a column, as a text of the database.
    private func sequence(_ table: CopiedTable, _ column: String) -> String {
        "pg_get_serial_sequence(quote_ident(current_schema()) || '.\(table.rawValue)', '\(column)')::regclass"
    }

    private func parameters(_ numbers: ClosedRange<Int>) -> String {
        numbers.map { "$\($0)" }.joined(separator: ", ")
    }
}

extension CopiedTable.Column {
    /// Returns what is selected: a layer that no replica has any more belongs to nobody in other stores.
    fileprivate func selection(from table: CopiedTable) -> String {
        table == .layer && name == "principal" ? "CASE WHEN replica IS NULL THEN NULL ELSE principal END" : name
    }

    fileprivate func value(_ row: PostgresRow, _ index: Int) throws -> CopiedValue {
        switch self {
        case .integer: try row.optionalInteger(index).map { .integer($0) } ?? .null
        case .text: try row.optionalText(index).map { .text($0) } ?? .null
        case .bytes: try row.optionalBytes(index).map { .bytes($0) } ?? .null
        case .bool: .integer(try row.bool(index) ? 1 : 0)
        }
    }

    fileprivate func parameter(_ value: CopiedValue) throws(StateError) -> PostgresParameter {
        switch (self, value) {
        case (.integer, .null): .integer(nil)
        case (.integer, .integer(let number)): .integer(number)
        case (.text, .null): .text(nil)
        case (.text, .text(let text)): .text(text)
        case (.bytes, .null): .bytes(nil)
        case (.bytes, .bytes(let bytes)): .bytes(bytes)
        case (.bool, .integer(let number)): .bool(number != 0)
        default: throw .corrupt("a column holds a value that it cannot have")
        }
    }
}
