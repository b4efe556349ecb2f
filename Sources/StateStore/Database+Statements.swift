// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB

/// Statements are prepared once for each connection and kept.
extension Database {
    /// Runs a statement that gives no rows.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The first row, if there is one.
    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// All rows, where the statement has a limit.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// The integer in the first column of the first row.
    func integer(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try row(sql, arguments)?.optionalInteger(0)
    }

    /// Whether there is a row.
    func exists(_ sql: String, _ arguments: StatementArguments = []) throws -> Bool {
        try row(sql, arguments) != nil
    }
}

/// Checks a text that becomes a key: SQLite's C interface would silently cut it at a NUL.
func key(_ text: String, _ noun: String) throws(StateError) -> String {
    guard (1...256).contains(text.utf8.count), !text.utf8.contains(0) else { throw .invalid(noun) }
    return text
}

/// Makes a text for the operator storable: without NUL, and cut to about `limit` bytes.
func remark(_ text: String, limit: Int = 255) -> String {
    let cut = text.utf8.count > limit ? String(decoding: text.utf8.prefix(limit), as: UTF8.self) : text
    return cut.utf8.contains(0) ? String(cut.unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : Character($0) }) : cut
}
