// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import StateStore

/// A value of a parameter.
package enum SQLValue: Hashable, Sendable {
    case integer(Int64)
    case bytes([UInt8])
}

/// A statement about rows, in the words that SQLite and PostgreSQL share.
///
/// Texts are few, because stores prepare and keep statements by them. A text names its parameters first in the order of
/// their numbers, as SQLite counts them. The kind of a row stands in it, as it does in the conditions of the indexes.
package struct RowStatement: Hashable, Sendable {
    /// The text.
    package let sql: String
    /// The values of `$1` and so on.
    package let values: [SQLValue]

    /// Creates a statement.
    package init(_ sql: String, _ values: [SQLValue] = []) {
        self.sql = sql
        self.values = values
    }
}

/// Reads rows; each statement has the columns that ``ByteRow/init(_:)`` reads, whatever its table.
extension RowStatement {
    /// Returns the statements whose results together are the rows of a lookup.
    package static func reading(_ lookup: Lookup) -> [Self] {
        guard case .replica(let cursor) = lookup else { return [Self(lookup)] }
        return [Self(lookup), Self(RowTexts.replicaOfCursor, cursor.values)]
    }

    private init(_ lookup: Lookup) {
        switch lookup {
        case .row(let key), .replica(let key): self.init(RowTexts.of(key.kind).reading, key.values)
        case .rows(.replica, let owner, _, _, let limit):
            self.init(
                "\(RowKind.replica.selection) AND owner = $1 ORDER BY number LIMIT $2",
                [.integer(owner), .integer(Int64(limit))])
        case .rows(let kind, let owner, let prefix, let after, let limit):
            let isBehind = after.map { !$0.lexicographicallyPrecedes(prefix) } ?? false
            self.init(
                """
                \(kind.selection) AND owner = $1 AND key \(isBehind ? ">" : ">=") $2 AND key < $3
                ORDER BY key LIMIT $4
                """,
                [
                    .integer(owner), .bytes(isBehind ? after ?? prefix : prefix), .bytes(prefix.end),
                    .integer(Int64(limit)),
                ])
        case .numbered(let kind, let owner, let after, let limit, let isDescending):
            self.init(
                """
                \(kind.selection) AND owner = $1 AND number > $2
                ORDER BY number \(isDescending ? "DESC" : "ASC") LIMIT $3
                """, [.integer(owner), .integer(after), .integer(Int64(limit))])
        case .all(let kind, let order, let after, let limit, let isDescending):
            let (first, second) = order == .number ? ("number", "rank") : ("rank", "number")
            let (sign, direction) = isDescending ? ("<", "DESC") : (">", "ASC")
            let start = after ?? (isDescending ? Lookup.Mark(.max, tie: .max) : Lookup.Mark(.min, tie: .min))
            self.init(
                """
                \(kind.selection) AND (\(first), \(second)) \(sign)\(after == nil ? "=" : "") ($1, $2)
                ORDER BY \(first) \(direction), \(second) \(direction) LIMIT $3
                """, [.integer(start.value), .integer(start.tie), .integer(Int64(limit))])
        case .named(let kind, let number): self.init("\(kind.selection) AND number = $1", [.integer(number)])
        case .newestCursor: self.init("\(RowKind.cursor.selection) ORDER BY number DESC LIMIT 1")
        case .count(let kind, let owner, let prefix):
            self.init(
                """
                SELECT $1, \(kind.rawValue), NULL, 0, count(*), 0, NULL FROM entry
                WHERE kind = \(kind.rawValue) AND owner = $1 AND key >= $2 AND key < $3
                """, [.integer(owner), .bytes(prefix), .bytes(prefix.end)])
        case .principals(let owners, let limit):
            self.init(
                "\(RowKind.principal.selection) AND owner BETWEEN $1 AND $2 ORDER BY owner LIMIT $3",
                [.integer(owners.lowerBound), .integer(owners.upperBound), .integer(Int64(limit))])
        }
    }

    /// Returns the statement that reads a page of a table.
    package static func page(of table: ByteTableName, after key: RowKey?, limit: Int) -> Self {
        let sign = key == nil ? ">=" : ">"
        let (owner, number) = (SQLValue.integer(key?.owner ?? .min), SQLValue.integer(key?.number ?? .min))
        let (marks, values): (String, [SQLValue]) =
            switch table {
            case .principal: ("$1", [owner])
            case .replica, .cursor: ("$1, $2", [owner, number])
            case .entry: ("$1, $2, $3", [owner, .integer(Int64(key?.kind.rawValue ?? 0)), .bytes(key?.key ?? [])])
            case .chunk: ("$1", [number])
            }
        return Self(
            """
            \(table.selection) WHERE (\(table.key)) \(sign) (\(marks)) ORDER BY \(table.key) LIMIT $\(values.count + 1)
            """, values + [.integer(Int64(limit))])
    }

    /// Returns the statement that reads the bytes of a chunk.
    package static func chunk(_ number: Int64) -> Self {
        Self("SELECT data FROM chunk WHERE number = $1", [.integer(number)])
    }

    /// Returns the statement that reads the version of the row under a key.
    package static func version(of key: RowKey) -> Self { Self(RowTexts.of(key.kind).version, key.values) }
}

/// Writes rows.
extension RowStatement {
    /// Returns the statement that puts a row, or combines it with the one that is under its key.
    package static func putting(_ row: ByteRow, _ conflict: RowConflict) -> Self {
        let (owner, number) = (SQLValue.integer(row.key.owner), SQLValue.integer(row.number))
        let (version, rank, data) = (
            SQLValue.integer(row.version), SQLValue.integer(row.rank), SQLValue.bytes(row.bytes)
        )
        let values: [SQLValue] =
            switch row.key.kind.table {
            case .principal: [owner, version, rank, data]
            case .replica: [owner, number, version, rank, data]
            case .cursor: [owner, number, rank]
            case .entry: [owner, .bytes(row.key.key), version, number, rank, data]
            case .chunk: [number, data]
            }
        return Self(RowTexts.of(row.key.kind).putting[conflict.rawValue], values)
    }

    /// Returns the statement that deletes the row under a key.
    package static func deleting(_ key: RowKey) -> Self { Self(RowTexts.of(key.kind).deletion, key.values) }

    /// Returns the statement that adds a chunk.
    package static func adding(chunk number: Int64, _ bytes: [UInt8]) -> Self {
        Self(RowTexts.of(.chunk).putting[RowConflict.refuse.rawValue], [.integer(number), .bytes(bytes)])
    }

    /// Returns the statement that deletes a chunk.
    package static func deleting(chunk number: Int64) -> Self {
        Self(RowTexts.of(.chunk).deletion, [.integer(number)])
    }
}

extension RowKey {
    /// The values of the parameters in the condition of its kind.
    package var values: [SQLValue] {
        switch kind.table {
        case .principal: [.integer(owner)]
        case .replica, .cursor: [.integer(owner), .integer(number)]
        case .chunk: [.integer(number)]
        case .entry: [.integer(owner), .bytes(key)]
        }
    }

    fileprivate var number: Int64 { Int64(keyBytes: key) }
}

extension [UInt8] {
    /// A key that is greater than all that begin with these bytes.
    fileprivate var end: [UInt8] {
        guard let index = lastIndex(where: { $0 < 255 }) else { return [UInt8](repeating: 255, count: 1_025) }
        return self[..<index] + [self[index] + 1]
    }
}
