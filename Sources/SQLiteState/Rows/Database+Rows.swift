// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore

/// Reads rows.
extension Database {
    func rows(of lookup: Lookup) throws -> [ByteRow] {
        switch lookup {
        case .row(let key): return try row(key).map { [$0] } ?? []
        case .replica(let key):
            guard let cursor = try row(key) else { return [] }
            let replica = try row(RowKey(.replica, of: key.owner, number: cursor.rank))
            return [cursor] + (replica.map { [$0] } ?? [])
        case .rows(.replica, let owner, _, _, let limit):
            return try heads("owner = ?1 ORDER BY id LIMIT ?2", [.integer(owner), limit.value])
        case .rows(let kind, let owner, let prefix, let after, let limit):
            return try rows(of: kind, owner, prefix: prefix, after: after, limit: limit)
        case .numbered(let kind, let owner, let after, let limit, let newest):
            let rows = try entries(
                "owner = ?1 AND kind = \(kind.rawValue) AND number > ?2 ORDER BY number \(newest ? "DESC" : "") LIMIT ?3",
                [.integer(owner), .integer(after), limit.value])
            return newest ? rows.reversed() : rows
        case .all(let kind, let order, let after, let limit, let isDescending):
            return try all(kind, by: order, after: after, limit: limit, isDescending: isDescending)
        case .named(.replica, let number): return try heads("id = ?1", [.integer(number)])
        case .named(.cursor, let number): return try cursors("cursor = ?1", [.integer(number)])
        case .named(let kind, let number):
            return try entries("kind = \(kind.rawValue) AND number = ?1", [.integer(number)])
        case .newestCursor: return try cursors("1 ORDER BY cursor DESC LIMIT 1", [])
        case .count(let kind, let owner, let prefix): return [try count(kind, owner, prefix: prefix)]
        case .principals(let owners, let limit):
            return try principals(
                "id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3",
                [.integer(owners.lowerBound), .integer(owners.upperBound), limit.value])
        }
    }

    func row(_ key: RowKey) throws -> ByteRow? {
        switch key.kind {
        case .principal: return try principals("id = ?1", [.integer(key.owner)]).first
        case .replica: return try heads("id = ?1 AND owner = ?2", [.integer(key.number), .integer(key.owner)]).first
        case .cursor:
            return try cursors("cursor = ?1 AND owner = ?2", [.integer(key.number), .integer(key.owner)]).first
        default:
            return try entries(
                "owner = ?1 AND kind = \(key.kind.rawValue) AND key = ?2", [.integer(key.owner), .bytes(key.key)]
            ).first
        }
    }

    func page(of table: ByteTableName, after key: RowKey?, limit: Int) throws -> [ByteRow] {
        let (owner, number) = (SQLValue.integer(key?.owner ?? .min), SQLValue.integer(key.map { $0.number } ?? .min))
        let sign = key == nil ? ">=" : ">"
        switch table {
        case .principal: return try principals("id \(sign) ?1 ORDER BY id LIMIT ?2", [owner, limit.value])
        case .replica:
            return try heads("(owner, id) \(sign) (?1, ?2) ORDER BY owner, id LIMIT ?3", [owner, number, limit.value])
        case .cursor:
            return try cursors(
                "(owner, cursor) \(sign) (?1, ?2) ORDER BY owner, cursor LIMIT ?3", [owner, number, limit.value])
        case .entry:
            return try entries(
                "(owner, kind, key) \(sign) (?1, ?2, ?3) ORDER BY owner, kind, key LIMIT ?4",
                [owner, .integer(Int64(key?.kind.rawValue ?? 0)), .bytes(key?.key ?? []), limit.value])
        case .chunk:
            let sql = "SELECT id, data FROM chunk WHERE id \(sign) ?1 ORDER BY id LIMIT ?2"
            return try rows(sql, [number, limit.value]) { row in
                let id = try row.integer(0)
                return ByteRow(key: RowKey(.chunk, of: 0, number: id), number: id, bytes: try row.bytes(1))
            }
        }
    }

    func chunk(_ number: Int64) throws -> [UInt8]? {
        var bytes: [UInt8]?
        try query("SELECT data FROM chunk WHERE id = ?1", [.integer(number)]) { bytes = try $0.bytes(0) }
        return bytes
    }

    private func principals(_ condition: String, _ values: [SQLValue]) throws -> [ByteRow] {
        try rows("SELECT id, version, seen, data FROM principal WHERE \(condition)", values) { row in
            ByteRow(
                key: RowKey(.principal, of: try row.integer(0)), version: try row.integer(1),
                rank: try row.integer(2), bytes: try row.bytes(3))
        }
    }

    private func heads(_ condition: String, _ values: [SQLValue]) throws -> [ByteRow] {
        try rows("SELECT owner, id, version, seen, data FROM replica WHERE \(condition)", values) { row in
            let id = try row.integer(1)
            return ByteRow(
                key: RowKey(.replica, of: try row.integer(0), number: id), version: try row.integer(2), number: id,
                rank: try row.integer(3), bytes: try row.bytes(4))
        }
    }

    private func cursors(_ condition: String, _ values: [SQLValue]) throws -> [ByteRow] {
        try rows("SELECT owner, cursor, replica FROM cursor WHERE \(condition)", values) { row in
            let cursor = try row.integer(1)
            return ByteRow(
                key: RowKey(.cursor, of: try row.integer(0), number: cursor), number: cursor,
                rank: try row.integer(2))
        }
    }

    private func entries(_ condition: String, _ values: [SQLValue]) throws -> [ByteRow] {
        let sql = "SELECT owner, kind, key, version, number, rank, data FROM entry WHERE \(condition)"
        return try rows(sql, values) { row in
            guard let kind = RowKind(rawValue: UInt8(clamping: try row.integer(1))) else { throw Coder.damage }
            return ByteRow(
                key: RowKey(kind, of: try row.integer(0), try row.bytes(2)), version: try row.integer(3),
                number: try row.integer(4), rank: try row.integer(5), bytes: try row.bytes(6))
        }
    }

    /// Returns what each row of a query is read as.
    private func rows(_ sql: String, _ values: [SQLValue], read: (SQLRow) throws -> ByteRow) throws -> [ByteRow] {
        var rows: [ByteRow] = []
        try query(sql, values) { rows.append(try read($0)) }
        return rows
    }

    private func rows(
        of kind: RowKind, _ owner: Int64, prefix: [UInt8], after: [UInt8]?, limit: Int
    ) throws -> [ByteRow] {
        let isBehind = after.map { !$0.lexicographicallyPrecedes(prefix) } ?? false
        let first = isBehind ? after ?? prefix : prefix
        return try entries(
            """
            owner = ?1 AND kind = \(kind.rawValue) AND key \(isBehind ? ">" : ">=") ?2 AND key < ?3
                ORDER BY key LIMIT ?4
            """, [.integer(owner), .bytes(first), .bytes(Self.end(of: prefix)), limit.value])
    }

    /// Returns a key that is greater than all that begin with a prefix.
    private static func end(of prefix: [UInt8]) -> [UInt8] {
        guard let index = prefix.lastIndex(where: { $0 < 255 }) else { return [UInt8](repeating: 255, count: 1_025) }
        return prefix[..<index] + [prefix[index] + 1]
    }

    private func count(_ kind: RowKind, _ owner: Int64, prefix: [UInt8]) throws -> ByteRow {
        var count: Int64 = 0
        try query(
            "SELECT count(*) FROM entry WHERE owner = ?1 AND kind = \(kind.rawValue) AND key >= ?2 AND key < ?3",
            [.integer(owner), .bytes(prefix), .bytes(Self.end(of: prefix))]
        ) { count = try $0.integer(0) }
        return ByteRow(key: RowKey(kind, of: owner), number: count)
    }

    private func all(
        _ kind: RowKind, by order: Lookup.Order, after: Lookup.Mark?, limit: Int, isDescending: Bool
    ) throws -> [ByteRow] {
        let names = kind == .replica ? (number: "id", rank: "seen") : (number: "number", rank: "rank")
        let (first, second) = order == .number ? (names.number, names.rank) : (names.rank, names.number)
        let direction = isDescending ? "DESC" : "ASC"
        var condition = kind == .replica ? "1" : "kind = \(kind.rawValue)"
        if after != nil { condition += " AND (\(first), \(second)) \(isDescending ? "<" : ">") (?2, ?3)" }
        condition += " ORDER BY \(first) \(direction), \(second) \(direction) LIMIT ?1"
        let values = [limit.value] + (after.map { [.integer($0.value), .integer($0.tie)] } ?? [])
        return try kind == .replica ? heads(condition, values) : entries(condition, values)
    }
}

extension Int {
    /// The value of a LIMIT; the greatest number is none.
    fileprivate var value: SQLValue { .integer(self == .max ? -1 : Int64(self)) }
}

extension RowKey {
    /// The number that the key is.
    var number: Int64 { Int64(keyBytes: key) }
}
