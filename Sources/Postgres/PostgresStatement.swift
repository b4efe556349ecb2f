// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A value for a parameter of a statement.
///
/// NULL has a type too, so that a statement has the same types of parameters whatever its values are, and is prepared
/// once.
package enum PostgresParameter: Hashable, Sendable {
    /// An `int8`.
    case integer(Int64?)
    /// A `text`, which must not contain U+0000.
    case text(String?)
    /// A `bytea`.
    case bytes([UInt8]?)
    /// A `bool`.
    case bool(Bool?)

    /// The type's number in `pg_type`, which is the same on every server.
    var type: UInt32 {
        switch self {
        case .integer: PostgresType.int8
        case .text: PostgresType.text
        case .bytes: PostgresType.bytea
        case .bool: PostgresType.bool
        }
    }

    /// The value in the binary format of its type; nil for NULL.
    var encoded: [UInt8]? {
        switch self {
        case .integer(let value): value.map { value in withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        case .text(let value): value.map { Array($0.utf8) }
        case .bytes(let value): value
        case .bool(let value): value.map { [$0 ? 1 : 0] }
        }
    }
}

/// One SQL statement with its parameters.
///
/// The text is a constant of the program, with `$1` and so on for all that changes: it is prepared once for each
/// connection and kept.
package struct PostgresStatement: Hashable, Sendable {
    /// The text.
    package let sql: String
    /// The values of `$1` and so on.
    package let parameters: [PostgresParameter]

    /// Creates a statement.
    package init(_ sql: String, _ parameters: [PostgresParameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}

extension PostgresStatement: ExpressibleByStringLiteral {
    /// Creates a statement without parameters.
    package init(stringLiteral value: String) { self.init(value) }
}

/// The numbers of types in `pg_type`, fixed by PostgreSQL's catalog (`src/include/catalog/pg_type.dat`).
enum PostgresType {
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let varchar: UInt32 = 1_043
    static let void: UInt32 = 2_278
}
