// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Testing

/// `[schema] version_from = header:NAME`.
@Suite(.timeLimit(.minutes(5))) struct VersionHeaderTests {
    private static let options = StackOptions(["schema.version_from": "header:X-App-Schema"])
    private static let tables = [
        1: ["projects", "tasks"], 2: ["projects", "tasks", "comments"],
        3: ["projects", "tasks", "comments", "tags", "task_tags"],
    ]

    @Test(
        arguments: [
            ("1", "", 1), ("2", "&schema_version=3", 2), ("1", "&schema_version=nonsense", 1),
            ("1", "&schema_version=1&schema_version=2", 1), ("2, 2", "", 2), (" 2 ", "", 2), ("99", "", 3),
            ("", "&schema_version=1", 1), ("null", "&schema_version=2", 2), ("undefined", "", 3),
        ])
    func `a number in the field is the version, whatever the query says`(
        field: String, query: String, version: Int
    ) async throws {
        try await GatewayStack.with(Self.options) { stack in
            let answer = try await stack.send("GET", "/sync?last_pulled_at=null\(query)", ["X-App-Schema": field])
            #expect(try PulledAnswer(answer).tables == Self.tables[version])
        }
    }

    @Test func `it counts before what a body says, and without it the body counts`() async throws {
        try await GatewayStack.with(Self.options) { stack in
            let body = Array(#"{"lastPulledAt":null,"schemaVersion":2}"#.utf8)
            let with = try await stack.send("POST", "/sync/pull", ["x-app-schema": "1"], body: body)
            #expect(try PulledAnswer(with).tables == Self.tables[1])
            let without = try await stack.send("POST", "/sync/pull", body: body)
            #expect(try PulledAnswer(without).tables == Self.tables[2])
        }
    }

    @Test(arguments: ["two", "0", "-1", "1.5", "1e99", "2147483648", "1,2", "1;2", "[1]", "0x1"])
    func `what is no version is refused, for pulls and for pushes`(field: String) async throws {
        try await GatewayStack.with(Self.options) { stack in
            let before = try await stack.snapshot()
            let fields = ["X-App-Schema": field]
            let pull = try await stack.send("GET", "/sync?last_pulled_at=null&schema_version=3", fields)
            #expect(pull.outcome == "400 request.schema_version")
            let push = try await stack.send(
                "POST", "/sync", fields, body: Array(#"{"tags":{"created":[{"id":"n"}]}}"#.utf8))
            #expect(push.outcome == "400 request.schema_version")
            #expect(try await stack.snapshot() == before)
        }
    }

    @Test func `two fields that differ are refused`() async throws {
        try await GatewayStack.with(Self.options) { stack in
            let headers = GatewayStack.headers() + [("X-App-Schema", "1"), ("X-App-Schema", "2")]
            let answer = try await stack.http.send("GET", "/sync?last_pulled_at=null", headers: headers)
            #expect(answer.outcome == "400 request.schema_version")
        }
    }

    @Test func `an app that is too old by its field is told so`() async throws {
        var options = Self.options
        options.overrides.merge(["schema.oldest": "2", "schema.migrations_enabled_at": "2"]) { $1 }
        try await GatewayStack.with(options) { stack in
            for method in ["GET", "POST"] {
                let body = method == "POST" ? Array(#"{"tags":{"created":[{"id":"n"}]}}"#.utf8) : []
                let answer = try await stack.send(method, "/sync", ["X-App-Schema": "1"], body: body)
                #expect(answer.outcome == "426 schema.too_old")
            }
        }
    }

    @Test func `an app that only sends the field gets what its update lacks at once`() async throws {
        try await GatewayStack.with(Self.options) { stack in
            try await stack.seed()
            var phone = try await stack.device(version: 1, shape: .docsOld)
            for version in 1...3 {
                phone.model.upgrade(to: version)
                phone.headers = [("X-App-Schema", "\(version)")]
                try await phone.sync()
                try await stack.expectEqual(phone)
            }
        }
    }

    @Test func `without the key the field means nothing`() async throws {
        try await GatewayStack.with { stack in
            let answer = try await stack.send("GET", "/sync?last_pulled_at=null", ["X-App-Schema": "nonsense"])
            #expect(try PulledAnswer(answer).tables == Self.tables[3])
        }
    }
}
