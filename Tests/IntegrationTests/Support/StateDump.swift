// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GatewayTesting

/// What a state holds, row by row, read past the gateway.
struct StateDump: Equatable, CustomStringConvertible {
    /// The rows by table, each as text.
    private(set) var rows: [String: [String]] = [:]

    /// Tables that say how far clients have got, and what was told to them.
    static let clientTables = ["cursor", "replica", "push", "quarantine", "vector", "layer", "chunk"]
    /// All tables with anybody's data.
    static let allTables =
        clientTables + ["principal", "session", "meta", "push_note", "layer_count", "sweep_states", "push_quarantine"]
    /// Notes of who was there when, which any request may move.
    private static let notes: Set = ["last_seen", "accepted_at", "position"]

    /// Reads a state that may be in use, without columns that may differ and notes of who was there when.
    init(path: String, tables: [String] = StateDump.clientTables, ignoring ignored: Set<String> = []) throws {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        rows = try queue.read { db in
            var rows: [String: [String]] = [:]
            for table in tables {
                rows[table] = try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map { row in
                    row.filter { !Self.notes.contains($0.0) && !ignored.contains($0.0) }
                        .map { "\($0.0)=\($0.1)" }.joined(separator: " ")
                }.sorted()
            }
            return rows
        }
        try queue.close()
    }

    /// How many bytes of a state that may be in use hold something, wherever they are: in its file or in its log.
    static func size(path: String) throws -> Int {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { db in
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

    var description: String {
        rows.sorted { $0.key < $1.key }.map { "\($0.key):\n  \($0.value.joined(separator: "\n  "))" }
            .joined(separator: "\n")
    }
}

extension GatewayStack {
    /// Where the state is.
    var statePath: String { "\(directory)/state.db" }

    /// What the state holds that a client could come to see.
    ///
    /// That a cursor was presented is noted even where the pull then fails.
    func clientState() throws -> StateDump {
        try StateDump(path: statePath, ignoring: ["confirmed", "tip", "last_result"])
    }
}
