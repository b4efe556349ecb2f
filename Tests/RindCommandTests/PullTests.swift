// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite struct PullTests {
    static let answer =
        #"{"changes":{"tasks":{"created":[{"id":"a"},{"id":"b"}],"updated":[],"deleted":["c"]}},"timestamp":1732178235123}"#

    @Test func `a pull is asked for as the documentation does, and counted`() async throws {
        try await CannedServer.with(body: Self.answer) { server in
            let result = try await RunningCommand.run(
                "pull", "http://127.0.0.1:\(server.port)/sync", "-H", "Authorization: Bearer x", "--schema-version", "3"
            )
            #expect(result.status == 0)
            #expect(
                result.out == """
                    table      created   updated   deleted
                    tasks            2         0         1
                    total            2         0         1
                    timestamp 1732178235123  (2024-11-21T08:37:15.123Z)

                    """)
            #expect(
                server.requests.hasPrefix("GET /sync?last_pulled_at=null&schema_version=3&migration=null HTTP/1.1\r\n"))
            #expect(server.requests.lowercased().contains("authorization: bearer x\r\n"))
        }
    }

    @Test func `a later pull sends its cursor behind what the URL asks already`() async throws {
        try await CannedServer.with(body: Self.answer) { server in
            let result = try await RunningCommand.run(
                "pull", "http://127.0.0.1:\(server.port)/sync?team=1", "--last-pulled-at", "17", "--json",
                "--migration", #"{"from":1}"#)
            #expect(result.out == Self.answer + "\n")
            #expect(
                server.requests.hasPrefix("GET /sync?team=1&last_pulled_at=17&migration=%7B%22from%22%3A1%7D HTTP/1.1"))
        }
    }

    @Test func `an answer may lie one member deeper`() async throws {
        try await CannedServer.with(body: "{\"data\":\(Self.answer)}") { server in
            let result = try await RunningCommand.run("pull", "http://127.0.0.1:\(server.port)/")
            #expect(result.status == 0)
        }
    }

    @Test(
        arguments: [
            ("404 Not Found", [], "nothing here", Int32(76), "status 404: nothing here"),
            (
                "401 Unauthorized", ["Rind-Error: request.not_signed_in"], "You are not signed in (1f)", 77,
                "status 401 (request.not_signed_in): You are not signed in (1f)"
            ),
            ("200 OK", [], "<html>", 76, "The answer is not JSON"),
            ("200 OK", [], "[]", 76, "The answer is no object."),
            ("200 OK", [], #"{"changes":{}}"#, 76, "no number 'timestamp'"),
            ("200 OK", [], #"{"changes":{},"timestamp":1.5}"#, 76, "does not survive"),
            ("200 OK", [], #"{"changes":{"a":{"created":[],"updated":[]}},"timestamp":1}"#, 76, "no list 'deleted'"),
        ] as [(String, [String], String, Int32, String)])
    func `what is no pull's answer is said in a sentence`(
        status: String, fields: [String], body: String, exit: Int32, sentence: String
    ) async throws {
        try await CannedServer.with(status: status, fields: fields, body: body) { server in
            let result = try await RunningCommand.run("pull", "http://127.0.0.1:\(server.port)/sync")
            #expect(result.status == exit)
            #expect(result.out.isEmpty)
            #expect(result.error.contains(sentence))
        }
    }

    @Test(
        arguments: [
            (["http://127.0.0.1:1/sync"], Int32(69)), (["127.0.0.1/sync"], 64),
            (["http://127.0.0.1:1/", "-H", "x"], 64),
            ([], 64),
        ] as [([String], Int32)])
    func `what cannot be sent or is not answered has its own status`(arguments: [String], status: Int32) async throws {
        let result = try await RunningCommand.run(["pull"] + arguments)
        #expect(result.status == status)
        #expect(!result.error.isEmpty)
    }
}
