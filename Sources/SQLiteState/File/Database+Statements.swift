// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StateStore

/// Statements are prepared once for each connection and kept.
extension Database {
    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Returns the first row; nil if there is none.
    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns all rows; only for statements with a limit.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the integer in the first column of the first row.
    func integer(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try row(sql, arguments)?.optionalInteger(0)
    }

    /// Returns true if there is a row.
    func exists(_ sql: String, _ arguments: StatementArguments = []) throws -> Bool {
        try row(sql, arguments) != nil
    }
}
