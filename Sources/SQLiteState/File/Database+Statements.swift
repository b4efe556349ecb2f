// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite

/// Statements are prepared once for each connection and kept.
///
/// Writes go through GRDB, which keeps track of transactions. Queries are bound and stepped here: GRDB's rows copy the
/// names of their columns and check their arguments each time, and a small pull makes a dozen of queries.
extension Database {
    /// The values for the parameters of a statement, in the order of their numbers; nil is NULL.
    typealias Arguments = [(any DatabaseValueConvertible)?]

    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Runs a statement that returns no rows, and about which GRDB need not know, such as the beginning of a read.
    func step(_ sql: String) throws { try query(sql, []) { _ in false } }

    /// Returns the first row; nil if there is none.
    func row(_ sql: String, _ arguments: Arguments = []) throws -> StoredRow? {
        var row: StoredRow?
        try query(sql, arguments) { statement in
            row = StoredRow(statement)
            return false
        }
        return row
    }

    /// Returns all rows, or those up to the first that is not `wanted`, without it; only for statements with a limit.
    func rows(
        _ sql: String, _ arguments: Arguments = [], while wanted: (StoredRow) -> Bool = { _ in true }
    ) throws -> [StoredRow] {
        var rows: [StoredRow] = []
        try query(sql, arguments) { statement in
            let row = StoredRow(statement)
            guard wanted(row) else { return false }
            rows.append(row)
            return true
        }
        return rows
    }

    /// Returns the integer in the first column of the first row.
    func integer(_ sql: String, _ arguments: Arguments = []) throws -> Int64? {
        try row(sql, arguments)?.optionalInteger(0)
    }

    /// Returns true if there is a row.
    func exists(_ sql: String, _ arguments: Arguments = []) throws -> Bool {
        var isThere = false
        try query(sql, arguments) { _ in
            isThere = true
            return false
        }
        return isThere
    }

    /// Passes rows on until there are no more or `body` returns false.
    private func query(
        _ sql: String, _ arguments: Arguments, forEachRow body: (SQLiteStatement) -> Bool
    ) throws {
        let statement = try cachedStatement(sql: sql).sqliteStatement
        // GRDB expects its statements as they are after a reset.
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        try bind(arguments, to: statement, of: sql)
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                guard body(statement) else { return }
            case SQLITE_DONE: return
            // Only the cancellation of a task interrupts a connection.
            case SQLITE_INTERRUPT: throw CancellationError()
            case let code: throw failure(code, of: sql)
            }
        }
    }

    private func bind(_ arguments: Arguments, to statement: SQLiteStatement, of sql: String) throws {
        guard arguments.count == Int(sqlite3_bind_parameter_count(statement)) else {
            throw failure(SQLITE_RANGE, of: sql)
        }
        for (index, argument) in zip(CInt(1)..., arguments) {
            let code =
                switch argument?.databaseValue.storage ?? .null {
                case .null: sqlite3_bind_null(statement, index)
                case .int64(let integer): sqlite3_bind_int64(statement, index, integer)
                case .double(let number): sqlite3_bind_double(statement, index, number)
                case .string(let text): Self.bind(text: text, to: statement, at: index)
                case .blob(let data): Self.bind(bytes: data, to: statement, at: index)
                }
            guard code == SQLITE_OK else { throw failure(code, of: sql) }
        }
    }

    /// Lets SQLite copy the bytes (https://www.sqlite.org/c3ref/c_static.html).
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private static func bind(text: String, to statement: SQLiteStatement, at index: CInt) -> CInt {
        var text = text
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                // No pointer would mean NULL.
                guard let address = bytes.baseAddress else {
                    return sqlite3_bind_text(statement, index, "", 0, transient)
                }
                return sqlite3_bind_text(statement, index, address, CInt(clamping: bytes.count), transient)
            }
        }
    }

    private static func bind(bytes: Data, to statement: SQLiteStatement, at index: CInt) -> CInt {
        bytes.withUnsafeBytes { bytes in
            guard let address = bytes.baseAddress, !bytes.isEmpty else {
                return sqlite3_bind_zeroblob(statement, index, 0)
            }
            return sqlite3_bind_blob(statement, index, address, CInt(clamping: bytes.count), transient)
        }
    }

    private func failure(_ code: CInt, of sql: String) -> DatabaseError {
        let message = sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
    }
}
