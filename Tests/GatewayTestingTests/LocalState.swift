// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import JSONBytes
import Testing

/// The state of the row `r` before an answer comes.
enum LocalState: String, CaseIterable, Sendable {
    case unknown, synced, updated, created, createdAndEdited, deleted

    /// A client that is in sync with `other`, and whose row `r` is in this state.
    func client(_ options: ClientModel.Options = .init()) throws -> ClientModel {
        var client = ClientModel(schema: .fixture, options: options, seed: 1)
        let row = #"{"id":"r","name":"old","note":"old","position":1,"done":true}"#
        let isKnown = [.synced, .updated, .deleted].contains(self)
        let first = client.apply(changes(created: [#"{"id":"other","name":"other"}"#] + (isKnown ? [row] : [])))
        #expect(first == ClientApplied(remoteChangeCount: isKnown ? 2 : 1))
        switch self {
        case .unknown, .synced: break
        case .updated: try client.update("t", "r", with: ["name": "mine"])
        case .created, .createdAndEdited:
            try client.create("t", id: "r", ["name": "old", "note": "old", "position": 1, "done": true])
            if self == .createdAndEdited { try client.update("t", "r", with: ["name": "mine"]) }
        case .deleted: try client.delete("t", "r")
        }
        return client
    }
}

extension ClientSchema {
    static let fixture = ClientSchema(tables: [
        Table(
            "t",
            columns: [
                Column("name", .string), Column("note", .string, isOptional: true), Column("position", .number),
                Column("done", .boolean),
            ]),
        Table("u", columns: [Column("name", .string)]),
    ])
}

/// A pull answer about the table `t`.
func changes(
    created: [String] = [], updated: [String] = [], deleted: [String] = [], timestamp: String = "1000",
    extra: String = ""
) -> [UInt8] {
    let ids = deleted.map { #""\#($0)""# }
    let lists = [("created", created), ("updated", updated), ("deleted", ids)].map {
        #""\#($0.0)":[\#($0.1.joined(separator: ","))]"#
    }
    return Array(#"{"changes":{"t":{\#(lists.joined(separator: ","))}},"timestamp":\#(timestamp)\#(extra)}"#.utf8)
}

extension ClientModel {
    /// The row `r` in one line: status, changed columns, values in the order of the schema; empty where there is none.
    var row: String { text(of: "r") }

    func text(of id: String) -> String {
        guard let record = record("t", id) else { return "" }
        let values = ["name", "note", "position", "done"].map { record.values[$0]?.json.text ?? "-" }
        return "\(record.status) [\(record.changed.joined(separator: ","))] \(values.joined(separator: " "))"
    }

    /// What would be pushed of the table `t`: ids by list.
    var pushed: [[String]] {
        guard let table = fetchLocalChanges().tables.first(where: { $0.name == "t" }) else { return [] }
        return [table.created.map(\.id), table.updated.map(\.id), table.deleted]
    }
}

extension JSONValue {
    var text: String { String(decoding: serialised, as: UTF8.self) }
}
