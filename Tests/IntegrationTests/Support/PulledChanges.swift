// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting

/// What a pull's answer brings, in a form that can be compared whatever the order of its records.
struct PulledChanges: Equatable, Sendable {
    /// The new cursor.
    var cursor: Int64
    /// What the client is told to do with the rest.
    var strategy: String?
    /// Records by table and id.
    var created: [String: [String: DemoValue]] = [:]
    /// Records by table and id.
    var updated: [String: [String: DemoValue]] = [:]
    /// Ids by table.
    var deleted: [String: Set<String>] = [:]
    /// The tables that the answer names, be it with nothing in them.
    var tables: Set<String> = []
    /// Ids that stand more than once in one table, with the table.
    var repeated: [String] = []

    /// Reads an answer that must be whole and in order.
    init(_ answer: RawAnswer) throws {
        guard answer.status == 200, answer.isComplete else { throw Unreadable(answer: answer.description) }
        try self.init(body: answer.body)
    }

    /// Reads an answer's body.
    init(body: [UInt8]) throws {
        guard let json = DemoValue(parsing: body), let timestamp = json["timestamp"]?.number,
            let tables = json["changes"]?.object
        else { throw Unreadable(answer: String(decoding: body.prefix(300), as: UTF8.self)) }
        cursor = Int64(timestamp)
        strategy = json["experimentalStrategy"]?.string
        self.tables = Set(tables.keys)
        for (table, set) in tables {
            guard let new = set["created"]?.array, let changed = set["updated"]?.array, let gone = set["deleted"]?.array
            else { throw Unreadable(answer: "\(table) lacks an array") }
            var seen: Set<String> = []
            func note(_ id: String) { if !seen.insert(id).inserted { repeated.append("\(table)#\(id)") } }
            for record in new {
                let id = record["id"]?.string ?? ""
                note(id)
                created[table, default: [:]][id] = record
            }
            for record in changed {
                let id = record["id"]?.string ?? ""
                note(id)
                updated[table, default: [:]][id] = record
            }
            for id in gone.compactMap(\.string) {
                note(id)
                deleted[table, default: []].insert(id)
            }
        }
    }

    /// Whether nothing comes.
    var isEmpty: Bool { created.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// How many records come.
    var count: Int { (Array(created.values) + Array(updated.values)).reduce(0) { $0 + $1.count } }

    /// Whether the same comes, whatever the cursors.
    func bringsTheSame(as other: PulledChanges) -> Bool {
        var other = other
        other.cursor = cursor
        return self == other
    }

    /// The answer is none of a pull.
    struct Unreadable: Error {
        let answer: String
    }
}
