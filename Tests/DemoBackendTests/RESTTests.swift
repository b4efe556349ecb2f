// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

@Suite struct RESTTests {
    @Test func `a record is made, read, changed and deleted`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let made = try await client.send("POST", "/projects", body: #"{"name":"P"}"#)
            #expect(made.status == 201)
            let id = try #require(made.json?["id"]?.string)
            #expect(made.json?["isArchived"] == false)
            let changed = try await client.send("PATCH", "/projects/\(id)", body: #"{"isArchived":true}"#)
            #expect(changed.status == 200)
            #expect(changed.json?["name"] == "P")
            #expect(changed.json?["isArchived"] == true)
            #expect(try await client.send("GET", "/projects/\(id)").json == changed.json)
            #expect(try await client.send("DELETE", "/projects/\(id)").status == 204)
            #expect(try await client.send("DELETE", "/projects/\(id)").status == 404)
            #expect(try await client.send("PATCH", "/projects/\(id)", body: "{}").status == 404)
        }
    }

    @Test func `a client's id is taken, but only once`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            #expect(try await client.send("POST", "/tags", body: #"{"id":"g","label":"a"}"#).json?["id"] == "g")
            #expect(try await client.send("POST", "/tags", body: #"{"id":"g","label":"a"}"#).status == 409)
            let headers = ["idempotency-key": "k"]
            let first = try await client.send("POST", "/tags", body: #"{"label":"b"}"#, headers: headers)
            let second = try await client.send("POST", "/tags", body: #"{"label":"b"}"#, headers: headers)
            #expect(first.status == 201)
            #expect(second.json == first.json)
        }
    }

    @Test func `missing is whatever the configuration says`() async throws {
        var configuration = DemoConfiguration()
        configuration.missingStatus = 400
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            #expect(try await client.send("DELETE", "/tasks/t").status == 400)
        }
    }

    @Test func `a change of an older version is refused`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tasks", ["id": "t"]))
            let client = try await TestClient(backend)
            let tag = try #require(try await client.send("GET", "/tasks/t").headers["etag"])
            let first = try await client.send("PATCH", "/tasks/t", body: "{\"name\":\"a\"}", headers: ["if-match": tag])
            #expect(first.status == 200)
            let second = try await client.send(
                "PATCH", "/tasks/t", body: "{\"name\":\"b\"}", headers: ["if-match": tag])
            #expect(second.status == 412)
            #expect(try await client.send("DELETE", "/tasks/t", headers: ["if-match": tag]).status == 412)
            #expect(try await backend.records()["tasks"]?["t"]?["name"] == "a")
        }
    }

    @Test func `labels are put on a task and taken off, each with its own result`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tasks", ["id": "t"]), .put("tags", ["id": "a"]), .put("tags", ["id": "b"]))
            let client = try await TestClient(backend)
            let path = "/tasks/t/tags"
            #expect(
                try await client.send("PUT", path, body: #"{"ids":["a","x"]}"#).json == [
                    ["id": "a", "success": true], ["id": "x", "success": false, "error": "not_found"],
                ])
            #expect(
                try await client.send("PUT", path, body: #"{"ids":["a","b"]}"#).json == [
                    ["id": "a", "success": false, "error": "duplicate"], ["id": "b", "success": true],
                ])
            #expect(
                try await client.send("DELETE", path, body: #"{"ids":["a","x"]}"#).json == [
                    ["id": "a", "success": true], ["id": "x", "success": false, "error": "not_found"],
                ])
            #expect(try await backend.records()["task_tags"]?.keys.sorted() == ["t.b"])
            #expect(try await client.send("PUT", "/tasks/none/tags", body: #"{"ids":["a"]}"#).status == 404)
        }
    }

    @Test(arguments: [
        #"{"name":1}"#, #"{"name":"a","mystery":1}"#, #"{"position":true}"#, "[]", "nonsense",
    ])
    func `a body that does not fit is a 400`(body: String) async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            let answer = try await client.send("POST", "/tasks", body: body)
            #expect(answer.status == 400)
            #expect(answer.json?["statusCode"] == 400)
        }
    }

    @Test func `logging in makes a session, by token or by cookie`() async throws {
        try await DemoBackend.withRunning { backend in
            let nobody = try await TestClient(backend, token: nil)
            #expect(try await nobody.send("GET", "/users/me").status == 401)
            #expect(try await nobody.send("GET", "/server/version").json?["major"] == 3)
            let wrong = #"{"email":"ada@example.com","password":"no"}"#
            #expect(try await nobody.send("POST", "/auth/login", body: wrong).status == 401)
            let right = #"{"email":"ada@example.com","password":"demo"}"#
            let answer = try await nobody.send("POST", "/auth/login", body: right)
            #expect(answer.status == 201)
            let token = try #require(answer.json?["accessToken"]?.string)
            let profile = try await TestClient(backend, token: token).send("GET", "/users/me").json
            #expect(profile?["email"] == "ada@example.com")
            let cookie = ["cookie": "a=b; demo_access_token=\(token)"]
            #expect(try await nobody.send("GET", "/users/me", headers: cookie).json == profile)
        }
    }

    @Test(arguments: ["/sync/stream", "/sync/ack", "/sync/push", "/projects", "/files"])
    func `nothing is served to nobody`(path: String) async throws {
        try await DemoBackend.withRunning { backend in
            let nobody = try await TestClient(backend, token: "made-up")
            #expect(try await nobody.send("POST", path, body: "{}").status == 401)
        }
    }

    @Test func `an unknown path has an error of the same form`() async throws {
        try await DemoBackend.withRunning { backend in
            let answer = try await TestClient(backend).send("GET", "/nowhere")
            #expect(answer.status == 404)
            #expect(answer.json?["statusCode"] == 404)
        }
    }
}
