// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import GatewayTesting
import StateStore
import SyncModel
import Testing

// A backend that counts its records: folders and notes with integer ids and references between them.
extension GatewayStack {
    static let numberedConfiguration = """
        [state]
        url = sqlite:rind-state.db
        [identity]
        principal = backend:GET /users/me id
        key = a-key-for-tests-that-is-no-secret-at-all
        [backend]
        url = http://127.0.0.1:8791
        idmap_type = IdMapV1
        [schema]
        version = 1
        [table folders]
        request = FoldersV1
        upsert = FolderV1
        delete = FolderDeleteV1 by folderId
        id = id
        id_type = integer
        parent = parent_id folders
        create = POST /folders returns id body {"name":"{name}","parentId":"{parent_id}","clientId":"{id}"}
        update = PATCH /folders/{id} missing 404
        remove = DELETE /folders/{id} missing 404
        [columns folders]
        name = string
        parent_id = string? parentId ref folders
        [table notes]
        request = NotesV1
        upsert = NoteV1
        delete = NoteDeleteV1 by noteId
        id = id
        id_type = integer
        parent = folder_id folders
        create = POST /notes returns id body {"title":"{title}","body":"{body}","folderId":"{folder_id}"}
        update = PATCH /notes/{id} missing 404
        remove = DELETE /notes/{id} missing 404
        [columns notes]
        title = string
        body = string?
        folder_id = string? folderId ref folders
        """

    static let numberedSchema = ClientSchema(tables: [
        .init("folders", columns: [.init("name", .string), .init("parent_id", .string, isOptional: true)]),
        .init(
            "notes",
            columns: [
                .init("title", .string), .init("body", .string, isOptional: true),
                .init("folder_id", .string, isOptional: true),
            ]),
    ])

    static func withNumberedIDs(
        idMaps: DemoConfiguration.IDMapLines = .none, _ overrides: [String: String] = [:],
        _ body: (GatewayStack) async throws -> Void
    ) async throws {
        var options = StackOptions(
            ["pull.repeat_window": "0s", "push.retry_budget": "0s"].merging(overrides) { $1 })
        options.configuration = numberedConfiguration
        options.backend.idMaps = idMaps
        try await with(options, body)
    }

    /// A device of Ada's.
    func numbered(_ seed: UInt64) async throws -> StackDevice {
        try await device(version: 1, schema: Self.numberedSchema, seed: seed)
    }

    /// What a table of a device has, by id: the text that is unique for each record, and the reference.
    func rows(_ device: StackDevice, _ table: String) -> [String: [String?]] {
        let columns = table == "folders" ? ["name", "parent_id"] : ["title", "folder_id"]
        return (device.model.contents[table] ?? [:]).mapValues { values in
            columns.map { if case .string(let text)? = values[$0] { text } else { nil } }
        }
    }

    /// The same of the backend.
    func backendRows(_ table: String) async throws -> [String: [String?]] {
        let members = table == "folders" ? ["name", "parentId"] : ["title", "folderId"]
        return (try await backend.records()[table] ?? [:]).mapValues { record in
            members.map { record[$0]?.string ?? record[$0]?.number.map { "\(Int($0))" } }
        }
    }

    /// Writes down which id the backend has given, as what finds it out late does.
    func map(_ table: String, _ client: String, to backend: String) async throws {
        let principal = try #require(
            try await store.inspection.replicas(of: nil, after: nil, limit: 1).first?.principal)
        _ = try await store.change(principal) {
            try IDRules.save([IDMapping(table: table, clientID: client, backendID: backend)], at: 1, in: &$0)
        }
    }

    /// Holds every stream behind the folders that it has brought.
    func holdStreamsBehindFolders(with latch: Latch) {
        backend.streamHook = { point in
            if point == StreamPoint(request: "NotesV1", part: .upserts) { await latch.pass() }
        }
    }
}
