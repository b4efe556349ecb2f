// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import INI
import SyncModel

/// Names the maker of the ids of new records (`docs/IDS.md`).
package enum IDMaker: String, CaseIterable, Sendable {
    /// The client: the backend accepts its ids.
    case client
    /// The backend, which gives each new record its own id.
    case backend
}

extension KeyTable {
    static let tableIDs: [Key] = [
        .table(
            "id_type", Table.IDType.allCases.map(\.rawValue).joined(separator: " | "), default: "text",
            summary: "What the backend's ids are.",
            about: """
                With `integer` ids and references to the table go to the backend as JSON numbers, and ids that are none are             known to be the client's. Clients get the digits as text.
                """
        ) { (value, draft, problems) throws(Mistake) in
            let type = try ValueFormat<Table.IDType>.choice.parse(value, &problems)
            draft.idType = Located(type, at: value.span)
        },
        .table(
            "ids", IDMaker.allCases.map(\.rawValue).joined(separator: " | "), default: "client",
            summary: "Who makes the ids of new records.",
            about: """
                `backend` for a stream push whose answer names the backend's ids. Where a `create` call says `returns` it is             the backend without saying so.
                """
        ) { (value, draft, problems) throws(Mistake) in
            let maker = try ValueFormat<IDMaker>.choice.parse(value, &problems)
            draft.idMaker = Located(maker, at: value.span)
        },
    ]

    static let idMaps: [Key] = [
        .setting(
            "backend", "idmap_type", at: \.backend.idMap.type, as: ValueFormat<String>.wireType.optional,
            summary: "The type of lines that tell which id the backend has given to a record that a client has made.",
            about: "They are believed for records that the caller has pushed. Empty: there are none."),
        .setting(
            "backend", "idmap_table", at: \.backend.idMap.table, as: .memberName,
            summary: "The member of such a line's data that holds the client's table."),
        .setting(
            "backend", "idmap_client", at: \.backend.idMap.client, as: .memberName,
            summary: "The member of such a line's data that holds the client's id."),
        .setting(
            "backend", "idmap_backend", at: \.backend.idMap.backend, as: .memberName,
            summary: "The member of such a line's data that holds the backend's id."),
    ]
}

extension Configuration.Backend {
    /// The lines that report the ids given by the backend.
    package struct IDMap: Hashable, Sendable {
        /// The type of the lines; nil if there are none.
        package var type: String?
        /// The member of their data that holds the client's table.
        package var table = "entity"
        /// The member of their data that holds the client's id.
        package var client = "tempId"
        /// The member of their data that holds the backend's id.
        package var backend = "id"
        /// Creates the default: no such lines.
        package init() {}
    }
}
