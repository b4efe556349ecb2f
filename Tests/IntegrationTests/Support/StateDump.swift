// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GatewayTesting
import SyncModel
import Testing

@testable import StateStore

/// What a state holds, row by row, read past the gateway.
struct StateDump: Equatable, CustomStringConvertible {
    /// The rows by kind, each as text.
    private(set) var rows: [RowKind: [String]] = [:]
    /// The heads of the replicas.
    private(set) var replicas: [ReplicaHead] = []
    /// The heads of the principals.
    private(set) var principals: [PrincipalHead] = []

    static func == (a: Self, b: Self) -> Bool { a.rows == b.rows }

    /// Kinds that say how far clients have got, and what was told to them.
    static let clientKinds: Set<RowKind> = [
        .cursor, .replica, .recent, .older, .receipt, .line, .chunk, .staged, .loose,
    ]
    /// All kinds with anybody's data.
    static let allKinds = Set(RowKind.allCases).subtracting([.meta, .move])

    /// Reads a state that may be in use, without notes of who was there when, which any request may move; without
    /// `tips`, also without how far clients have shown that they have got.
    init(path: String, kinds: Set<RowKind> = StateDump.clientKinds, tips: Bool = true) throws {
        let found = try Self.read(path) { db in
            try Self.tables.flatMap { table in
                try Row.fetchAll(db, sql: table).map { row in
                    ByteRow(
                        key: RowKey(
                            RowKind(rawValue: row["kind"]) ?? .meta, of: row["owner"], [UInt8](row["key"] as Data)),
                        number: row["number"], bytes: [UInt8](row["data"] as Data))
                }
            }
        }
        for row in found where kinds.contains(row.key.kind) { try add(row, tips: tips) }
        for kind in kinds { rows[kind] = (rows[kind] ?? []).sorted() }
    }

    private static let tables = [
        "SELECT 1 AS kind, owner, x'' AS key, 0 AS number, data FROM principal",
        "SELECT 2 AS kind, owner, x'' AS key, number, data FROM replica",
        "SELECT 3 AS kind, owner, x'' AS key, number, x'' AS data FROM cursor",
        "SELECT kind, owner, key, number, data FROM entry",
        "SELECT 22 AS kind, 0 AS owner, x'' AS key, number, data FROM chunk",
    ]

    private mutating func add(_ row: ByteRow, tips: Bool) throws {
        var text = "\(row.key.owner) \(row.key.key) \(row.number)"
        switch row.key.kind {
        case .principal:
            var head = try PrincipalHead(decoding: row.bytes)
            principals.append(head)
            head.lastSeen = 0
            text += " \(try head.encoded())"
        case .replica:
            var head = try ReplicaHead(decoding: row.bytes)
            replicas.append(head)
            (head.lastSeen, head.position) = (0, nil)
            if !tips {
                (head.isConfirmed, head.tip, head.lastResult, head.troubles) = (false, nil, "", [])
                for index in head.cursors.indices { head.cursors[index].isConfirmed = false }
            }
            text += " \(try head.encoded())"
        // When it was used, and where it is.
        case .session: break
        default: text += " \(row.bytes)"
        }
        rows[row.key.kind, default: []].append(text)
    }

    private static func read<T>(_ path: String, _ body: (Database) throws -> T) throws -> T {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read(body)
    }

    /// How many bytes of a state that may be in use hold something, wherever they are: in its file or in its log.
    static func size(path: String) throws -> Int {
        try read(path) { db in
            func pragma(_ name: String) throws -> Int { try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0 }
            return try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
        }
    }

    /// Changes a state past the gateway, while none runs.
    static func execute(_ sql: String, path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Overwrites the chunks of a client's table, wherever they are, or deletes those that are rows, while no gateway
    /// runs.
    static func damage(_ table: String, path: String, deletes: Bool = false) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(sql: deletes ? "DELETE FROM chunk" : "UPDATE chunk SET data = zeroblob(length(data))")
            for row in try Row.fetchAll(db, sql: "SELECT number, data FROM replica") {
                var head = try ReplicaHead(decoding: [UInt8](row["data"] as Data))
                head.ledger.base?.damage(table)
                for index in head.cursors.indices { head.cursors[index].delta?.damage(table) }
                try db.execute(
                    sql: "UPDATE replica SET data = ? WHERE number = ?",
                    arguments: [Data(try head.encoded()), row["number"] as Int64])
            }
        }
        try queue.close()
    }

    /// Deletes the first or the last directory of the base of the only ledger, while no gateway runs.
    static func deleteDirectory(isFirst: Bool, path: String) throws {
        let head = try #require(try StateDump(path: path).replicas.first)
        let directories = head.ledger.base?.chunks.filter { $0.named > 0 } ?? []
        let gone = try #require(isFirst ? directories.first : directories.last)
        #expect(directories.count > 1)
        try execute("DELETE FROM chunk WHERE number = \(gone.number)", path: path)
    }

    var description: String {
        rows.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key):\n  \($0.value.joined(separator: "\n  "))" }.joined(separator: "\n")
    }
}

extension LedgerLayer {
    fileprivate mutating func damage(_ table: String) {
        for index in chunks.indices where chunks[index].table == table {
            chunks[index].bytes = chunks[index].bytes?.map { _ in 0 }
        }
    }
}

extension GatewayStack {
    /// Where the state is.
    var statePath: String { "\(directory)/state.db" }

    /// What the state holds that a client could come to see.
    ///
    /// That a cursor was presented is noted even where the pull then fails.
    func clientState() throws -> StateDump { try StateDump(path: statePath, tips: false) }
}
