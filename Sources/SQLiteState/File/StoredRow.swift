// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import StateStore
import SyncModel

/// One row of a query, as copies of its values.
///
/// Columns are read by their index in the SELECT list; a damaged file causes an error, not a trap.
struct StoredRow {
    private enum Value {
        case null
        case integer(Int64)
        case text(String)
        case bytes([UInt8])
        /// A kind of value that no column has.
        case other
    }

    private let values: [Value]

    /// Copies the row that a statement is at.
    init(_ statement: SQLiteStatement) {
        values = (0..<sqlite3_column_count(statement)).map { column in
            switch sqlite3_column_type(statement, column) {
            case SQLITE_NULL: .null
            case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
            case SQLITE_TEXT: sqlite3_column_text(statement, column).map { .text(String(cString: $0)) } ?? .other
            case SQLITE_BLOB: .bytes(Self.bytes(of: statement, at: column))
            default: .other
            }
        }
    }

    private static func bytes(of statement: SQLiteStatement, at column: CInt) -> [UInt8] {
        // First the address, then the size (https://www.sqlite.org/c3ref/column_blob.html).
        let address = sqlite3_column_blob(statement, column)
        return Array(UnsafeRawBufferPointer(start: address, count: Int(sqlite3_column_bytes(statement, column))))
    }
}

extension StoredRow {
    /// Returns an integer.
    func integer(_ index: Int) throws(StateError) -> Int64 {
        guard let value = try optionalInteger(index) else { throw Self.damaged }
        return value
    }

    /// Returns an integer, or nil for NULL.
    func optionalInteger(_ index: Int) throws(StateError) -> Int64? {
        switch values[index] {
        case .integer(let integer): return integer
        case .null: return nil
        default: throw Self.damaged
        }
    }

    /// Returns a count or a number that only rises: 0 to 2^53, so that a few of them can be added without
    /// overflow.
    func number(_ index: Int) throws(StateError) -> Int64 {
        let value = try integer(index)
        guard (0...1 << 53).contains(value) else { throw Self.damaged }
        return value
    }

    /// Returns a moment from 1970 on, which may be reckoned with.
    func instantSince1970(_ index: Int) throws(StateError) -> Instant { Instant(milliseconds: try number(index)) }

    /// Returns a moment, which may be any.
    func instant(_ index: Int) throws(StateError) -> Instant { Instant(milliseconds: try integer(index)) }

    /// Returns a moment, or nil for NULL.
    func optionalInstant(_ index: Int) throws(StateError) -> Instant? {
        try optionalInteger(index).map(Instant.init(milliseconds:))
    }

    /// Returns a size or the growth of one: at most 2^40 either way, so that millions of them can be added without
    /// overflow.
    func amount(_ index: Int) throws(StateError) -> Int {
        let value = try integer(index)
        guard (-1 << 40...1 << 40).contains(value) else { throw Self.damaged }
        return Int(value)
    }

    /// Returns a text.
    func text(_ index: Int) throws(StateError) -> String {
        guard let value = try optionalText(index) else { throw Self.damaged }
        return value
    }

    /// Returns a text, or nil for NULL.
    func optionalText(_ index: Int) throws(StateError) -> String? {
        switch values[index] {
        case .text(let text): return text
        case .null: return nil
        default: throw Self.damaged
        }
    }

    /// Returns a principal: its digest, and from a second column on the user and the scope that it was made from.
    func principal(_ digest: Int, origin: Int) throws(StateError) -> Principal {
        guard let user = try optionalText(origin), let scope = try optionalText(origin + 1) else {
            return Principal(rawValue: try text(digest))
        }
        return Principal(rawValue: try text(digest), origin: Principal.Origin(user: user, scope: scope))
    }

    /// Returns bytes.
    func bytes(_ index: Int) throws(StateError) -> [UInt8] {
        guard let bytes = try optionalBytes(index) else { throw Self.damaged }
        return bytes
    }

    /// Returns bytes, or nil for NULL.
    func optionalBytes(_ index: Int) throws(StateError) -> [UInt8]? {
        switch values[index] {
        case .bytes(let bytes): return bytes
        case .null: return nil
        default: throw Self.damaged
        }
    }

    /// Returns the number of bytes in a column; 0 if it holds anything else.
    func byteCount(_ index: Int) -> Int {
        if case .bytes(let bytes) = values[index] { bytes.count } else { 0 }
    }

    private static var damaged: StateError { .corrupt("a column holds a value that it cannot have") }
}
