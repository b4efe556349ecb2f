// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Multiplies the replicas of a state by SQL: a million first syncs would take an hour.
///
/// The copies are those of one replica that has made its first sync: a principal, session, vector, replica, cursor and
/// ledger each, with digests and numbers of their own. Columns are read from the file, so a new column is copied too.
struct ReplicaGrowth {
    /// The reasons why a state cannot be grown.
    enum Failure: Error, CustomStringConvertible {
        case noReplica

        var description: String { "the state has no replica with a ledger that could be multiplied" }
    }

    /// The number of replicas that one transaction adds.
    private static let batch = 50_000

    /// The path of a state that no gateway uses.
    let path: String

    /// Adds replicas until there are `count`; returns the number that there are then.
    func grow(to count: Int) throws -> Int {
        // Layers and replicas refer to each other.
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let file = try DatabaseQueue(path: path, configuration: configuration)
        return try file.writeWithoutTransaction { db in
            // Nothing is lost if this fails: the file is made for the measurement.
            try db.execute(sql: "PRAGMA synchronous = OFF")
            // Digests are entered everywhere in their indices, which therefore have to be in memory.
            try db.execute(sql: "PRAGMA cache_size = -1000000")
            var present = try Int.fetchOne(db, sql: "SELECT count(*) FROM replica") ?? 0
            while present < count {
                let added = min(count - present, Self.batch)
                try db.inTransaction {
                    try add(added, db)
                    return .commit
                }
                present += added
            }
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            return present
        }
    }

    private func add(_ count: Int, _ db: Database) throws {
        guard
            let model = try Row.fetchOne(
                db,
                sql: """
                    SELECT cursor.principal, cursor.cursor, cursor.session, cursor.vector, cursor.replica,
                        replica.base, cursor.layer FROM cursor JOIN replica ON replica.id = cursor.replica
                    ORDER BY cursor.principal, cursor.cursor LIMIT 1
                    """),
            let layer = (model["layer"] ?? model["base"]) as Int64?
        else { throw Failure.noReplica }
        let numbers: [String: Int64] = [
            "principal": model["principal"], "session": model["session"], "vector": model["vector"],
            "replica": model["replica"], "layer": layer,
        ]
        try db.execute(
            sql: """
                CREATE TEMP TABLE grown AS WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT ?)
                SELECT n + (SELECT max(id) FROM principal) AS principal, n + (SELECT max(id) FROM session) AS session,
                    n + (SELECT max(id) FROM vector) AS vector, n + (SELECT max(id) FROM layer) AS layer,
                    abs(random()) AS replica FROM n
                """, arguments: [count])
        for copy in Self.copies { try db.execute(sql: copy.sql(db), arguments: [numbers[copy.model]]) }
        try db.execute(sql: "DROP TABLE grown")
    }

    /// The tables of a replica.
    ///
    /// Times are earlier by a millisecond for each principal, as if they had come one by one.
    private static let copies = [
        Copy(
            "principal", key: "id", of: "principal",
            [
                "id": "grown.principal", "digest": Self.text, "newest": earlier("newest"),
                "last_seen": earlier("last_seen"),
            ]),
        Copy("vector", key: "id", of: "vector", ["id": "grown.vector", "digest": "randomblob(32)"]),
        Copy(
            "session", key: "id", of: "session",
            [
                "id": "grown.session", "principal": "grown.principal", "digest": Self.text, "position": "NULL",
                "last_seen": earlier("last_seen"),
            ]),
        Copy(
            "layer", key: "id", of: "layer",
            [
                "id": "grown.layer", "cursor": earlier("cursor"),
                "replica": "CASE WHEN model.replica IS NULL THEN NULL ELSE grown.replica END",
            ]),
        Copy(
            "replica", key: "id", of: "replica",
            [
                "id": "grown.replica", "principal": "grown.principal", "tip": earlier("tip"),
                "folded": earlier("folded"), "last_seen": earlier("last_seen"),
                "base": "CASE WHEN model.base IS NULL THEN NULL ELSE grown.layer END",
            ]),
        Copy("layer_count", key: "layer", of: "layer", ["layer": "grown.layer"]),
        Copy("chunk", key: "layer", of: "layer", ["id": "NULL", "layer": "grown.layer"]),
        Copy(
            "cursor", key: "replica", of: "replica",
            [
                "principal": "grown.principal", "cursor": earlier("cursor"), "parent": earlier("parent"),
                "below": earlier("below"), "replica": "grown.replica", "vector": "grown.vector",
                "session": "grown.session",
                "layer": "CASE WHEN model.layer IS NULL THEN NULL ELSE grown.layer END",
            ]),
    ]

    private static func earlier(_ column: String) -> String { "model.\(column) - grown.principal" }

    private static let text = "lower(hex(randomblob(32)))"
}

/// The copies of one row for all grown replicas.
private struct Copy {
    let table: String
    let key: String
    /// The name of the number by which the row is found.
    let model: String
    /// The columns with other values than the row's.
    let changed: [String: String]

    init(_ table: String, key: String, of model: String, _ changed: [String: String]) {
        self.table = table
        self.key = key
        self.model = model
        self.changed = changed
    }

    func sql(_ db: Database) throws -> String {
        let columns = try db.columns(in: table).map(\.name)
        let values = columns.map { changed[$0] ?? "model.\($0)" }
        return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
            + "FROM grown CROSS JOIN \(table) AS model WHERE model.\(key) = ?"
    }
}
