// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateStore

/// Reads rows: each statement has the columns of ``columns``, whatever its table.
extension PostgresStatement {
    /// The columns of a row: owner, kind, key or number, version, number, rank, data.
    private static let principals =
        "SELECT owner, 1::bigint, NULL::bytea, version, 0::bigint, seen, data FROM principal"
    private static let replicas = "SELECT owner, 2::bigint, NULL::bytea, version, id, seen, data FROM replica"
    private static let cursors =
        "SELECT owner, 3::bigint, NULL::bytea, 0::bigint, cursor, replica, ''::bytea FROM cursor"
    private static let entries = "SELECT owner, kind::bigint, key, version, number, rank, data FROM entry"

    /// Returns the statements whose results together are the rows of a lookup.
    static func reading(_ lookup: Lookup) -> [PostgresStatement] {
        switch lookup {
        case .row(let key): [reading(key)]
        case .replica(let key):
            [
                reading(key),
                PostgresStatement(
                    "\(replicas) WHERE owner = $1 AND id = (SELECT replica FROM cursor WHERE owner = $1 AND cursor = $2)",
                    [.integer(key.owner), .integer(key.number)]),
                pages(ofReplicaNamedBy: key),
            ]
        case .rows(.replica, let owner, _, _, let limit):
            [
                PostgresStatement(
                    "\(replicas) WHERE owner = $1 ORDER BY id LIMIT $2", [.integer(owner), limit.parameter])
            ]
        case .rows(let kind, let owner, let prefix, let after, let limit):
            [entries(of: kind, owner, prefix: prefix, after: after, limit: limit)]
        case .numbered(let kind, let owner, let after, let limit, let newest):
            [
                PostgresStatement(
                    """
                    SELECT * FROM (
                        \(entries) WHERE owner = $1 AND kind = \(kind.rawValue) AND number > $2
                            ORDER BY number \(newest ? "DESC" : "ASC") LIMIT $3
                    ) found ORDER BY number
                    """, [.integer(owner), .integer(after), limit.parameter])
            ]
        case .all(let kind, let order, let after, let limit, let isDescending):
            [all(kind, by: order, after: after, limit: limit, isDescending: isDescending)]
        case .named(.replica, let number): [PostgresStatement("\(replicas) WHERE id = $1", [.integer(number)])]
        case .named(.cursor, let number): [PostgresStatement("\(cursors) WHERE cursor = $1", [.integer(number)])]
        case .named(let kind, let number):
            [PostgresStatement("\(entries) WHERE kind = \(kind.rawValue) AND number = $1", [.integer(number)])]
        case .newestCursor: [PostgresStatement("\(cursors) ORDER BY cursor DESC LIMIT 1", [])]
        case .count(let kind, let owner, let prefix):
            [
                PostgresStatement(
                    """
                    SELECT $1, \(kind.rawValue)::bigint, ''::bytea, 0::bigint, count(*), 0::bigint, ''::bytea FROM entry
                    WHERE owner = $1 AND kind = \(kind.rawValue) AND key >= $2 AND key < $3
                    """, [.integer(owner), .bytes(prefix), .bytes(prefix.end)])
            ]
        case .principals(let owners, let limit):
            [
                PostgresStatement(
                    "\(principals) WHERE owner BETWEEN $1 AND $2 ORDER BY owner LIMIT $3",
                    [.integer(owners.lowerBound), .integer(owners.upperBound), limit.parameter])
            ]
        }
    }

    /// Returns the statement that reads the pages of the head that a cursor names: that saves a round trip.
    private static func pages(ofReplicaNamedBy cursor: RowKey) -> PostgresStatement {
        // The keys of pages begin with the replica's number as its bytes are ordered.
        PostgresStatement(
            """
            SELECT e.owner, e.kind::bigint, e.key, e.version, e.number, e.rank, e.data
            FROM (
                SELECT int8send(replica # '-9223372036854775808'::bigint) AS prefix FROM cursor
                WHERE owner = $1 AND cursor = $2
            ) c, entry e
            WHERE e.owner = $1 AND e.kind = \(RowKind.recent.rawValue)
                AND e.key >= c.prefix AND e.key < c.prefix || '\\xffffffffffffffffff'::bytea
            """, [.integer(cursor.owner), .integer(cursor.number)])
    }

    /// Returns the statement that reads a page of a table.
    static func page(of table: ByteTableName, after key: RowKey?, limit: Int) -> PostgresStatement {
        let owner = PostgresParameter.integer(key?.owner ?? .min)
        let number = PostgresParameter.integer(key?.number ?? .min)
        let sign = key == nil ? ">=" : ">"
        return switch table {
        case .principal:
            PostgresStatement("\(principals) WHERE owner \(sign) $1 ORDER BY owner LIMIT $2", [owner, limit.parameter])
        case .replica:
            PostgresStatement(
                "\(replicas) WHERE (owner, id) \(sign) ($1, $2) ORDER BY owner, id LIMIT $3",
                [owner, number, limit.parameter])
        case .cursor:
            PostgresStatement(
                "\(cursors) WHERE (owner, cursor) \(sign) ($1, $2) ORDER BY owner, cursor LIMIT $3",
                [owner, number, limit.parameter])
        case .entry:
            PostgresStatement(
                "\(entries) WHERE (owner, kind, key) \(sign) ($1, $2::bigint, $3) ORDER BY owner, kind, key LIMIT $4",
                [owner, .integer(Int64(key?.kind.rawValue ?? 0)), .bytes(key?.key ?? []), limit.parameter])
        case .chunk:
            PostgresStatement(
                """
                SELECT 0::bigint, \(RowKind.chunk.rawValue)::bigint, NULL::bytea, 0::bigint, id, 0::bigint, data FROM chunk
                WHERE id \(sign) $1 ORDER BY id LIMIT $2
                """, [number, limit.parameter])
        }
    }

    private static func reading(_ key: RowKey) -> PostgresStatement {
        switch key.kind {
        case .principal: PostgresStatement("\(principals) WHERE owner = $1", [.integer(key.owner)])
        case .replica:
            PostgresStatement("\(replicas) WHERE owner = $1 AND id = $2", [.integer(key.owner), .integer(key.number)])
        case .cursor:
            PostgresStatement(
                "\(cursors) WHERE owner = $1 AND cursor = $2", [.integer(key.owner), .integer(key.number)])
        default:
            PostgresStatement(
                "\(entries) WHERE owner = $1 AND kind = \(key.kind.rawValue) AND key = $2",
                [.integer(key.owner), .bytes(key.key)])
        }
    }

    private static func entries(
        of kind: RowKind, _ owner: Int64, prefix: [UInt8], after: [UInt8]?, limit: Int
    ) -> PostgresStatement {
        let isBehind = after.map { !$0.lexicographicallyPrecedes(prefix) } ?? false
        return PostgresStatement(
            """
            \(entries) WHERE owner = $1 AND kind = \(kind.rawValue) AND key \(isBehind ? ">" : ">=") $2 AND key < $3
            ORDER BY key LIMIT $4
            """,
            [.integer(owner), .bytes(isBehind ? after : prefix), .bytes(prefix.end), limit.parameter])
    }

    private static func all(
        _ kind: RowKind, by order: Lookup.Order, after: Lookup.Mark?, limit: Int, isDescending: Bool
    ) -> PostgresStatement {
        let isReplica = kind == .replica
        let names = isReplica ? (number: "id", rank: "seen") : (number: "number", rank: "rank")
        let (first, second) = order == .number ? (names.number, names.rank) : (names.rank, names.number)
        let direction = isDescending ? "DESC" : "ASC"
        let condition = isReplica ? "true" : "kind = \(kind.rawValue)"
        let start: Lookup.Mark =
            after ?? (isDescending ? Lookup.Mark(.max, tie: .max) : Lookup.Mark(.min, tie: .min))
        return PostgresStatement(
            """
            \(isReplica ? replicas : entries) WHERE \(condition)
                AND (\(first), \(second)) \(isDescending ? "<" : ">")\(after == nil ? "=" : "") ($2, $3)
            ORDER BY \(first) \(direction), \(second) \(direction) LIMIT $1
            """, [limit.parameter, .integer(start.value), .integer(start.tie)])
    }
}

extension ByteRow {
    /// Reads a row of a statement that ``PostgresStatement/reading(_:)`` has made.
    init(_ row: PostgresRow) throws {
        guard let kind = RowKind(rawValue: UInt8(clamping: try row.integer(1))) else { throw Coder.damage }
        let (owner, number) = (try row.integer(0), try row.integer(4))
        let key: RowKey
        switch kind {
        case .principal: key = RowKey(kind, of: owner)
        case .replica, .cursor, .chunk: key = RowKey(kind, of: owner, number: number)
        default: key = RowKey(kind, of: owner, try row.bytes(2))
        }
        self.init(
            key: key, version: try row.integer(3), number: number, rank: try row.integer(5), bytes: try row.bytes(6))
    }
}

extension Int {
    /// The parameter of a LIMIT; the greatest number is none.
    fileprivate var parameter: PostgresParameter { .integer(self == .max ? nil : Int64(self)) }
}

extension [UInt8] {
    /// A key that is greater than all that begin with these bytes.
    fileprivate var end: [UInt8] {
        guard let index = lastIndex(where: { $0 < 255 }) else { return [UInt8](repeating: 255, count: 1_025) }
        return self[..<index] + [self[index] + 1]
    }
}

extension RowKey {
    /// The number that the key is.
    var number: Int64 { Int64(keyBytes: key) }
}
