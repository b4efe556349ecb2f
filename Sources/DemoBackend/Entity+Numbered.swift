// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

// Records with ids that the database assigns: a client learns them from the answer of the call that made the record.
extension Entity {
    static let folders = Entity(
        name: "folders", keys: [Field("id", column: "id", .integer)],
        fields: [
            Field("name", column: "name", .string),
            Field("parentId", column: "parent_id", .integer, optional: true, to: "folders"),
            Field("clientId", column: "client_id", .string, optional: true),
        ],
        creatorColumn: "creator_id", audit: ("folder_audit", ["folder_id"]))
    static let notes = Entity(
        name: "notes", keys: [Field("id", column: "id", .integer)],
        fields: [
            Field("title", column: "title", .string), Field("body", column: "body", .string, optional: true),
            Field("folderId", column: "folder_id", .integer, optional: true, to: "folders"),
            Field("clientId", column: "client_id", .string, optional: true),
        ],
        creatorColumn: "creator_id", audit: ("note_audit", ["note_id"]))

    /// True if the database makes the ids, which are whole numbers on the wire.
    var isNumbered: Bool { keys[0].kind == .integer }

    /// Returns the key of the record that a request's path names.
    ///
    /// - Throws: A 400 for an id that no record of this table can have.
    func key(ofPath id: String) throws -> String {
        guard isNumbered else { return id }
        guard let number = Int64(id), String(number) == id else {
            throw DemoError.badRequest("the id must be a whole number")
        }
        return id
    }

    /// Returns the id of a stored record, with the parts of composite keys joined with `.`.
    func id(of row: Row) -> String {
        keys.map { DemoValue(key: row[$0.column]).keyText ?? "" }.joined(separator: ".")
    }
}

extension DemoValue {
    /// Creates a part of a key from its value in the database.
    init(key: DatabaseValue) {
        switch key.storage {
        case .int64(let number): self = .number(Double(number))
        case .string(let text): self = .string(text)
        default: self = .null
        }
    }

    /// The text of a part of a key: a string, or a whole number; nil for any other value.
    var keyText: String? { string ?? number.flatMap { Int64(exactly: $0) }.map { String($0) } }
}
