// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import StateStore

/// A value of a parameter or a column.
enum SQLValue: Hashable {
    case integer(Int64)
    case bytes([UInt8])
}

/// The row that a statement is at; a damaged file causes an error, not a trap.
struct SQLRow {
    fileprivate let statement: SQLiteStatement

    /// Returns an integer.
    func integer(_ column: CInt) throws(StateError) -> Int64 {
        guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { throw Self.damage }
        return sqlite3_column_int64(statement, column)
    }

    /// Returns bytes.
    func bytes(_ column: CInt) throws(StateError) -> [UInt8] {
        guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { throw Self.damage }
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
    func run(_ sql: String, values: [SQLValue]) throws -> Int {
        try query(sql, values) { _ in }
        return Int(sqlite3_changes(sqliteConnection))
    }

    /// Runs a statement that returns no rows and has no values.
    func step(_ sql: String) throws { try run(sql, values: []) }

    /// Returns the integer in the first column of the first row.
    func integer(_ sql: String) throws -> Int64? {
        var number: Int64?
        try query(sql, []) { number = try number ?? $0.integer(0) }
        return number
    }

    /// Passes on all rows of a query.
    func query(_ sql: String, _ values: [SQLValue], forEachRow body: (SQLRow) throws -> Void) throws {
        let statement = try cachedStatement(sql: sql).sqliteStatement
        // GRDB expects its statements as they are after a reset.
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in zip(CInt(1)..., values) {
            guard Self.bind(value, to: statement, at: index) == SQLITE_OK else { throw failure(SQLITE_RANGE, of: sql) }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try body(SQLRow(statement: statement))
            case SQLITE_DONE: return
            // Only the cancellation of a task interrupts a connection.
            case SQLITE_INTERRUPT: throw CancellationError()
            case let code: throw failure(code, of: sql)
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
