// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import Testing

@testable import rind

@Suite struct ConformTests {
    @Test func `all rules hold for the gateway before the demo backend`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.seed()
            let before = try await backend.records()
            try await ServedGateway.with(backend) { gateway in
                let result = try await RunningCommand.run(
                    "conform", "http://127.0.0.1:\(gateway.port)/sync", "-H", "Authorization: Bearer ada-token",
                    "--schema-version", "3", "--write")
                #expect(result.status == 0, "\(result.out)\(result.error)")
                let end = "\n\(ConformRule.allCases.count) hold, 0 fail, 0 skipped\n"
                #expect(result.out.hasSuffix(end), "\(result.out)")
            }
            #expect(try await backend.records().mapValues(\.count) == before.mapValues(\.count), "nothing is left")
        }
    }

    @Test(arguments: ConformShape.allCases)
    func `all rules hold for the gateway in each form of requests`(shape: ConformShape) async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.edit(.put("tags", ["id": "t1", "label": "x"]))
            try await backend.edit(.put("tags", ["id": "t2", "label": "y"]))
            try await ServedGateway.with(backend) { gateway in
                let result = try await RunningCommand.run(
                    "conform", "http://127.0.0.1:\(gateway.port)/sync", "-H", "Authorization: Bearer ada-token",
                    "--shape", shape.rawValue, "--write")
                #expect(result.status == 0, "\(result.out)\(result.error)")
                #expect(result.out.contains(" 0 fail, "), "\(result.out)")
            }
        }
    }

    @Test func `all rules hold for an endpoint that keeps them, and no scratch record is left`() async throws {
        let endpoint = SyncEndpoint()
        let (result, failing) = try await conform(endpoint, "--write", "--schema-version", "2")
        #expect(result.status == 0, "\(result.out)\(result.error)")
        #expect(failing.isEmpty)
        #expect(endpoint.ids == ["p1", "p2", "p3"])
    }

    @Test(arguments: ConformRule.allCases)
    func `of an endpoint that breaks one rule exactly this rule is named`(rule: ConformRule) async throws {
        let endpoint = SyncEndpoint(broken: rule)
        let (result, failing) = try await conform(endpoint, "--write", "--schema-version", "2")
        #expect(result.status == 1, "\(result.error)")
        #expect(failing == [rule.rawValue], "\(result.out)")
        #expect(result.out.contains("fails    \(rule.rawValue)"))
        #expect(result.out.matches(of: #/\n {9}why   .+\n {9}sent  (GET|POST) http.+\n {9}came  \d{3} /#).count == 1)
        if rule != .pushDelete { #expect(endpoint.ids == ["p1", "p2", "p3"], "no scratch record is left") }
    }

    @Test(arguments: [#"{"id":"gone"}"#, "7", "null"])
    func `a first pull with deletions fails the rule, whatever their elements are`(_ element: String) async throws {
        let answer = #"{"changes":{"tags":{"created":[],"updated":[],"deleted":[\#(element)]}},"timestamp":1}"#
        try await CannedServer.with(body: answer) { server in
            let result = try await RunningCommand.run("conform", "http://127.0.0.1:\(server.port)/sync")
            #expect(result.out.contains("fails    pull-first-deletions"), "\(result.out)")
            #expect(result.out.contains("It has 1 deletion."), "\(result.out)")
        }
    }

    @Test func `without --write it only pulls`() async throws {
        let endpoint = SyncEndpoint()
        try await ScriptedServer.with(reading: endpoint.answer) { server in
            let result = try await RunningCommand.run("conform", "\(server.url)/sync")
            #expect(result.status == 0)
            #expect(server.requests.allSatisfy { $0.method == "GET" })
            #expect(result.out.contains("skipped  push-create"))
            #expect(result.out.contains("(needs --write)"))
        }
    }

    @Test func `a failing rule is a failed test of JUnit, its text escaped`() async throws {
        let answer = #"{"changes":{"a&b":{"created":[{"id":"<>"}],"updated":[],"deleted":[]}},"timestamp":1}"#
        try await CannedServer.with(body: answer) { server in
            try await Place.withDirectory { directory in
                let file = directory.appending(path: "conform.xml").path(percentEncoded: false)
                let result = try await RunningCommand.run(
                    "conform", "http://127.0.0.1:\(server.port)/sync?a=1&b=2", "--junit", file)
                #expect(result.status == 1)
                let text = try String(contentsOfFile: file, encoding: .utf8)
                let count = ConformRule.allCases.count
                #expect(text.contains(#"<testsuite name="rind conform" tests="\#(count)" failures="1" errors="0" "#))
                let url = "http://127.0.0.1:\(server.port)/sync?a=1&amp;b=2"
                #expect(text.contains(#"classname="\#(url)" name="pull-once"/>"#))
                #expect(text.contains(#"name="pull-safe-ids"><failure message="Ids consist"#))
                #expect(text.contains("a&amp;b.created has the id '&lt;&gt;'."))
                #expect(!text.contains("<>"))
            }
        }
    }

    @Test func `no endpoint, and one that refuses the credential, end with status 2`() async throws {
        let nowhere = try await RunningCommand.run("conform", "http://127.0.0.1:1/sync")
        #expect(nowhere.status == 2)
        #expect(nowhere.error.contains("no answer: "))
        for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found"] {
            try await CannedServer.with(status: status, body: "Go away") { server in
                let result = try await RunningCommand.run("conform", "http://127.0.0.1:\(server.port)/sync")
                #expect(result.status == 2)
                #expect(result.error.contains("\(status.prefix(3)) Go away"))
            }
        }
    }

    @Test func `every rule has its row in the manual`() throws {
        let manual = try Place.text("docs/CONFORM.md")
        for rule in ConformRule.allCases {
            #expect(manual.contains("\n| `\(rule.rawValue)` | \(rule.sentence) |"), "\(rule.rawValue)")
        }
    }

    /// Runs the command against an endpoint, and returns the names of the rules that fail too.
    private func conform(_ endpoint: SyncEndpoint, _ arguments: String...) async throws -> (Finished, [String]) {
        try await ScriptedServer.with(reading: endpoint.answer) { server in
            try await Place.withDirectory { directory in
                let file = directory.appending(path: "conform.xml").path(percentEncoded: false)
                let result = try await RunningCommand.run(
                    ["conform", "\(server.url)/sync", "--junit", file] + arguments
                )
                let text = try String(contentsOfFile: file, encoding: .utf8)
                return (result, text.matches(of: #/name="([a-z-]+)"><failure/#).map { String($0.1) })
            }
        }
    }
}
