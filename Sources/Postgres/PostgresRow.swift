// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One row of a result, as copies of its values.
///
/// Columns are read by their index in the SELECT list. A value that the column cannot have, after an error in the
/// schema or at the hands of a server that is none, causes an error and not a trap.
package struct PostgresRow: Hashable, Sendable {
    /// A value as the server sent it.
    enum Value: Hashable, Sendable {
        case null
        case integer(Int64)
        case text(String)
        case bytes([UInt8])
        case bool(Bool)
        /// A type that no column has, or bytes that are no value of their type.
        case other

        /// Reads a value in the binary format of its type.
        init(type: UInt32, bytes: UnsafeRawBufferPointer) {
            switch (type, bytes.count) {
            case (PostgresType.int8, 8): self = .integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
            case (PostgresType.int4, 4): self = .integer(Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))))
            case (PostgresType.int2, 2): self = .integer(Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))))
            case (PostgresType.bool, 1): self = .bool(bytes[0] != 0)
            case (PostgresType.bytea, _): self = .bytes(Array(bytes))
            case (PostgresType.text, _), (PostgresType.varchar, _), (PostgresType.name, _):
                self = String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .other
            default: self = .other
            }
        }
    }

    let values: [Value]

    /// Returns an integer.
    package func integer(_ index: Int) throws(PostgresError) -> Int64 {
        guard let value = try optionalInteger(index) else { throw .unexpectedValue(column: index) }
        return value
    }

    /// Returns an integer, or nil for NULL.
    package func optionalInteger(_ index: Int) throws(PostgresError) -> Int64? {
        switch try value(index) {
        case .integer(let integer): return integer
        case .null: return nil
        default: throw .unexpectedValue(column: index)
        }
    }

    /// Returns a text.
    package func text(_ index: Int) throws(PostgresError) -> String {
        guard let value = try optionalText(index) else { throw .unexpectedValue(column: index) }
        return value
    }

    /// Returns a text, or nil for NULL.
    package func optionalText(_ index: Int) throws(PostgresError) -> String? {
        switch try value(index) {
        case .text(let text): return text
        case .null: return nil
        default: throw .unexpectedValue(column: index)
        }
    }

    /// Returns bytes.
    package func bytes(_ index: Int) throws(PostgresError) -> [UInt8] {
        guard let value = try optionalBytes(index) else { throw .unexpectedValue(column: index) }
        return value
    }

    /// Returns bytes, or nil for NULL.
    package func optionalBytes(_ index: Int) throws(PostgresError) -> [UInt8]? {
        switch try value(index) {
        case .bytes(let bytes): return bytes
        case .null: return nil
        default: throw .unexpectedValue(column: index)
        }
    }

    /// Returns a truth value.
    package func bool(_ index: Int) throws(PostgresError) -> Bool {
        guard case .bool(let bool) = try value(index) else { throw .unexpectedValue(column: index) }
        return bool
    }

    private func value(_ index: Int) throws(PostgresError) -> Value {
        guard values.indices.contains(index) else { throw .unexpectedValue(column: index) }
        return values[index]
    }
}

/// The result of one statement.
package struct PostgresResult: Hashable, Sendable {
    /// The rows, empty for a statement that returns none.
    package internal(set) var rows: [PostgresRow] = []
    /// The number of rows that an INSERT, UPDATE, DELETE or SELECT has touched.
    package internal(set) var count = 0
}
