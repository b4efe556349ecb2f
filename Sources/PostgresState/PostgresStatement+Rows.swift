// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Postgres
import StateSQL
import StateStore

extension PostgresRow: RowColumns {}

extension PostgresStatement {
    init(_ statement: RowStatement) {
        self.init(
            statement.sql,
            statement.values.map { value in
                switch value {
                case .integer(let number): .integer(number)
                case .bytes(let bytes): .bytes(bytes)
                }
            })
    }

    /// Returns the statements whose results together are the rows of a lookup.
    static func reading(_ lookup: Lookup) -> [PostgresStatement] {
        let statements = RowStatement.reading(lookup).map { PostgresStatement($0) }
        guard case .replica(let cursor) = lookup else { return statements }
        return statements + [pages(ofReplicaNamedBy: cursor)]
    }

    /// Returns the statement that reads the pages of the head that a cursor names: that saves a round trip.
    private static func pages(ofReplicaNamedBy cursor: RowKey) -> PostgresStatement {
        // The keys of pages begin with the replica's number as its bytes are ordered.
        PostgresStatement(
            RowStatement(
                """
                SELECT e.owner, e.kind, e.key, e.version, e.number, e.rank, e.data
                FROM (
                    SELECT int8send(rank # '-9223372036854775808'::bigint) AS prefix FROM cursor
                    WHERE owner = $1 AND number = $2
                ) c, entry e
                WHERE e.owner = $1 AND e.kind = \(RowKind.recent.rawValue)
                    AND e.key >= c.prefix AND e.key < c.prefix || '\\xffffffffffffffffff'::bytea
                """, cursor.values))
    }

    /// Returns the statements that make changes, or fail with a division by zero or a violated key.
    static func making(_ changes: RowChanges) -> [PostgresStatement] {
        // In the order of the keys, so that no two transactions wait for each other.
        var statements = locking(changes)
        for (key, version) in changes.expected.sorted(by: { $0.key < $1.key }) where version != 0 {
            statements.append(expecting(key, version, isWritten: changes.rows[key] != nil))
        }
        for (key, row) in changes.rows.sorted(by: { $0.key < $1.key }) {
            guard let row else {
                statements.append(.deleting(key))
                // A lease is kept as long as its principal, unless it is held.
                if key.kind == .principal {
                    statements.append(RowStatement("DELETE FROM lease WHERE owner = $1 AND holder IS NULL", key.values))
                }
                continue
            }
            // A row that must not be there has no version: adding it fails if it is.
            statements.append(.putting(row, changes.expected[key] == 0 ? .refuse : .replace))
        }
        for (key, version) in changes.expected where version == 0 && changes.rows[key] == nil {
            let (table, condition) = (key.kind.table.rawValue, key.kind.condition)
            statements.append(RowStatement("SELECT 1 / (1 - count(*)) FROM \(table) WHERE \(condition)", key.values))
        }
        statements += changes.added.map { .putting($0, .refuse) }
        statements += changes.counted.sorted { $0.key < $1.key }.map { .putting($0, .count) }
        statements += changes.increments.sorted { $0.key < $1.key }.map {
            .putting(ByteRow(key: $0.key, number: $0.value), .add)
        }
        statements += changes.floors.sorted { $0.key < $1.key }.map {
            .putting(ByteRow(key: $0.key, number: $0.value), .raise)
        }
        statements += changes.chunks.sorted { $0.key < $1.key }.map { .adding(chunk: $0.key, $0.value) }
        statements += changes.freedChunks.map { .deleting(chunk: $0) }
        return statements.map { PostgresStatement($0) }
    }

    /// Returns the statement that keeps changes of a row of the whole state and comparisons with it apart.
    ///
    /// All syncs compare it. To lock the row itself would write it each time, and those that compare could keep out for
    /// ever who wants to change it.
    private static func locking(_ changes: RowChanges) -> [RowStatement] {
        guard let key = changes.expected.keys.first(where: \.isOfWholeState) else { return [] }
        let kind = changes.rows[key] == nil ? "_shared" : ""
        let lock = "SELECT pg_advisory_xact_lock\(kind)(hashtextextended('rind row ' || current_schema(), 0))"
        return [RowStatement(lock, [])]
    }

    /// Locks a row and divides by zero unless it has the version.
    ///
    /// At READ COMMITTED a row that is only compared has to be locked, too: another transaction could change it before
    /// this one commits.
    private static func expecting(_ key: RowKey, _ version: Int64, isWritten: Bool) -> RowStatement {
        let lock = key.isOfWholeState ? "" : isWritten ? "FOR UPDATE" : "FOR SHARE"
        return RowStatement(
            """
            WITH found AS (
                SELECT 1 FROM \(key.kind.table.rawValue)
                WHERE \(key.kind.condition) AND version = $\(key.values.count + 1) \(lock)
            )
            SELECT 1 / count(*) FROM found
            """, key.values + [.integer(version)])
    }
}

extension RowKey {
    fileprivate var isOfWholeState: Bool { owner == 0 && kind == .meta }
}
