// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import StateSQL
import StateStore

/// The row that a statement is at; a damaged file causes an error, not a trap.
struct SQLRow: RowColumns {
    fileprivate let statement: SQLiteStatement

    func integer(_ index: Int) throws(StateError) -> Int64 {
        let column = CInt(index)
        guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { throw Self.damage }
        return sqlite3_column_int64(statement, column)
    }

    func optionalBytes(_ index: Int) throws(StateError) -> [UInt8]? {
        let column = CInt(index)
        let type = sqlite3_column_type(statement, column)
        if type == SQLITE_NULL { return nil }
        guard type == SQLITE_BLOB else { throw Self.damage }
        // First the address, then the size (https://www.sqlite.org/c3ref/column_blob.html).
        let address = sqlite3_column_blob(statement, column)
        return Array(UnsafeRawBufferPointer(start: address, count: Int(sqlite3_column_bytes(statement, column))))
    }

    private static var damage: StateError { .corrupt("a column holds a value that it cannot have") }
}

/// Statements are prepared once for each connection and kept, and bound and stepped here: GRDB's rows copy the names of
/// their columns and check their arguments each time.
extension Database {
    /// Runs a statement that returns no rows; returns the number of rows that it has changed.
    @discardableResult
    func run(_ statement: RowStatement) throws -> Int {
        try query(statement) { _ in }
        return Int(sqlite3_changes(sqliteConnection))
    }

    /// Runs a statement that returns no rows and has no values.
    func step(_ sql: String) throws { try run(RowStatement(sql)) }

    /// Returns the integer in the first column of the first row.
    func integer(_ sql: String) throws -> Int64? {
        var number: Int64?
        try query(RowStatement(sql)) { number = try number ?? $0.integer(0) }
        return number
    }

    /// Passes on all rows of a query.
    func query(_ statement: RowStatement, forEachRow body: (SQLRow) throws -> Void) throws {
        let handle = try cachedStatement(sql: statement.sql).sqliteStatement
        // GRDB expects its statements as they are after a reset.
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        for (index, value) in zip(CInt(1)..., statement.values) {
            let code = Self.bind(value, to: handle, at: index)
            guard code == SQLITE_OK else { throw failure(SQLITE_RANGE, of: statement.sql) }
        }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: try body(SQLRow(statement: handle))
            case SQLITE_DONE: return
            // Only the cancellation of a task interrupts a connection.
            case SQLITE_INTERRUPT: throw CancellationError()
            case let code: throw failure(code, of: statement.sql)
            }
        }
    }

    /// Lets SQLite copy the bytes (https://www.sqlite.org/c3ref/c_static.html).
    private static let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private static func bind(_ value: SQLValue, to statement: SQLiteStatement, at index: CInt) -> CInt {
        switch value {
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .bytes(let bytes):
            bytes.withUnsafeBytes { bytes in
                guard let address = bytes.baseAddress, !bytes.isEmpty else {
                    return sqlite3_bind_zeroblob(statement, index, 0)
                }
                return sqlite3_bind_blob(statement, index, address, CInt(clamping: bytes.count), copying)
            }
        }
    }

    private func failure(_ code: CInt, of sql: String) -> DatabaseError {
        let message = sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
    }
}
