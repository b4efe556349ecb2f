// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

/// Folders and notes, whose ids the database counts.
@Suite struct NumberedRecordTests {
    private static func make(_ path: String, _ body: DemoValue, _ client: TestClient) async throws -> Int {
        let answer = try await client.send("POST", path, body: body.json)
        guard answer.status == 201, let id = answer.json?["id"]?.number else {
            throw TestClient.Unexpected(answer: answer)
        }
        return Int(id)
    }

    @Test func `ids are numbers that the backend counts, whatever the client sends, and none comes twice`() async throws
    {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let first = try await Self.make("/folders", ["name": "a", "id": "mine"], client)
            let second = try await Self.make("/folders", ["name": "b", "parentId": .number(Double(first))], client)
            #expect([first, second] == [1, 2])
            #expect(try await client.send("DELETE", "/folders/2").status == 204)
            #expect(try await Self.make("/folders", ["name": "c"], client) == 3)
            let changed = try await client.send("PATCH", "/folders/3", body: #"{"name":"d","parentId":1}"#)
            #expect(changed.json?["parentId"] == 1 && changed.json?["id"] == 3)
            let tag = try #require(changed.headers["etag"])
            #expect(try await client.send("GET", "/folders/3").headers["etag"] == tag)
            #expect(try await client.send("DELETE", "/folders/3", headers: ["if-match": "\"other\""]).status == 412)
            #expect(try await client.send("GET", "/folders/9").status == 404)
            for id in ["x", "03", "3.0"] { #expect(try await client.send("GET", "/folders/\(id)").status == 400) }
        }
    }

    @Test(arguments: [
        ("/notes", #"{"title":"a","folderId":7}"#), ("/notes", #"{"title":"a","folderId":"1"}"#),
        ("/notes", #"{"title":"a","folderId":1.5}"#), ("/folders", #"{"name":"a","parentId":2}"#),
        ("/folders", #"{"name":7}"#),
    ])
    func `a reference to no record of the user, or none that is a number, is a 400`(
        _ path: String, _ body: String
    ) async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let bob = try await TestClient(backend, token: "bob-token")
            _ = try await Self.make("/folders", ["name": "ada's"], client)
            _ = try await Self.make("/folders", ["name": "bob's"], bob)
            #expect(try await client.send("POST", path, body: body).status == 400)
            #expect(try await client.send("GET", "/folders/2").status == 404)
        }
    }

    @Test func `streams carry ids and references as numbers, and the client's id where there was one`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            _ = try await Self.make("/folders", ["name": "f", "clientId": "X"], client)
            _ = try await Self.make("/notes", ["title": "n", "folderId": 1], client)
            let lines = try await client.sync("FoldersV1", "NotesV1")
            #expect(lines.map(\.type) == ["FolderV1", "NoteV1"])
            #expect(lines[0].data["id"] == 1 && lines[0].data["clientId"] == "X" && lines[0].data["parentId"] == .null)
            #expect(lines[1].data["folderId"] == 1 && lines[1].data["clientId"] == .null)
            #expect(try await client.send("DELETE", "/notes/1").status == 204)
            #expect(try await client.sync("FoldersV1", "NotesV1").map(\.data) == [["noteId": 1]])
            #expect(try await TestClient(backend, token: "bob-token").sync("FoldersV1", "NotesV1").isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `with a folder all within it goes, and notes are told as the configuration wants`(_ told: Bool) async throws {
        var configuration = DemoConfiguration()
        configuration.announcesNotes = told
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            try await backend.edit(
                .put("folders", ["id": 10, "name": "outer"]), .put("folders", ["id": 11, "parentId": 10]),
                .put("folders", ["id": 12, "parentId": 11]), .put("notes", ["folderId": 12]),
                .put("notes", ["folderId": .null]))
            try await client.sync("FoldersV1", "NotesV1")
            try await backend.edit(.delete("folders", "10"))
            let lines = try await client.sync("FoldersV1", "NotesV1")
            #expect(Set(lines.compactMap { $0.data["folderId"]?.number }) == [10, 11, 12])
            #expect(lines.compactMap { $0.data["noteId"] } == (told ? [1] : []))
            #expect(try await backend.records()["notes"]?.keys.sorted() == ["2"])
            #expect(try await backend.records()["folders"] == [:])
        }
    }

    @Test func `one idempotency key makes one record`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let headers = ["idempotency-key": "k"]
            let answers = [
                try await client.send("POST", "/notes", body: #"{"title":"a"}"#, headers: headers),
                try await client.send("POST", "/notes", body: #"{"title":"a"}"#, headers: headers),
            ]
            #expect(answers[0].status == 201 && answers[0].json == answers[1].json)
            #expect(try await client.send("POST", "/notes", body: #"{"title":"b"}"#, headers: headers).status == 422)
            #expect(try await backend.records()["notes"]?.count == 1)
        }
    }

    @Test(arguments: [DemoConfiguration.IDMapLines.none, .first, .last])
    func `lines tell which number a client's id has become`(_ place: DemoConfiguration.IDMapLines) async throws {
        var configuration = DemoConfiguration()
        configuration.idMaps = place
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            _ = try await Self.make("/notes", ["title": "with", "clientId": "X"], client)
            _ = try await Self.make("/notes", ["title": "without"], client)
            let types = try await client.sync("NotesV1")
            let expected: [String] =
                switch place {
                case .none: ["NoteV1", "NoteV1"]
                case .first: ["IdMapV1", "NoteV1", "NoteV1"]
                case .last: ["NoteV1", "NoteV1", "IdMapV1"]
                }
            #expect(types.map(\.type) == expected)
            #expect(
                types.filter { $0.type == "IdMapV1" }.map(\.data)
                    == (place == .none ? [] : [["entity": "notes", "tempId": "X", "id": 1]]))
            #expect(try await client.sync("NotesV1").isEmpty)
            #expect(try await client.sync("TagsV1").isEmpty)
        }
    }

    @Test func `what is refused for good is refused by a text in it or by the client's id`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            backend.rejectedTexts = ["poison"]
            backend.rejectedIDs = ["X"]
            #expect(try await client.send("POST", "/notes", body: #"{"title":"so poisonous"}"#).status == 400)
            #expect(try await client.send("POST", "/notes", body: #"{"clientId":"X"}"#).status == 400)
            #expect(try await client.send("POST", "/tags", body: #"{"label":"poison"}"#).status == 400)
            _ = try await Self.make("/notes", ["title": "fine"], client)
            #expect(try await client.send("PATCH", "/notes/1", body: #"{"body":"poison"}"#).status == 400)
            backend.rejectedTexts = []
            backend.rejectedIDs = []
            #expect(try await client.send("PATCH", "/notes/1", body: #"{"body":"poison"}"#).status == 200)
            #expect(try await Self.make("/notes", ["clientId": "X"], client) == 2)
        }
    }

    @Test func `a stream push does not take them`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let operation: DemoValue = ["op": "create", "table": "notes", "id": "X", "data": ["title": "a"]]
            #expect(try await client.push([operation]).status == 422)
        }
    }
}
