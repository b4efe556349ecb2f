// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import StateStore
import SyncModel
import Testing

/// Apps whose syncs are about one project or farm of several: the examples `projects.ini` and `farms.ini` as they are,
/// before a backend with one database for each.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(
        if: GatewayProcess.isBuilt && PythonBackend.isRunnable, "there is no python3, or rind is not built"))
struct ScopeTests {
    /// An app, by where its address has the scope.
    enum App: String, CaseIterable {
        case projects, farms

        func address(_ scope: String) -> (path: String, query: String) {
            switch self {
            case .projects: ("/projects/\(scope)/sync/", "")
            case .farms: ("/sync", "farm_id=\(scope)")
            }
        }

        /// The name of the scope's part.
        var part: String { self == .projects ? "path.id" : "query.farm_id" }
    }

    @Test(arguments: App.allCases)
    func `two scopes on one phone are apart, with cursors, pushes and lost answers of their own`(app: App) async throws
    {
        try await Self.with(app) { stage in
            let (seven, eight) = (stage.backend.project("7"), stage.backend.project("8"))
            try seven.edit("UPDATE items SET text = 'of seven'")
            try eight.edit("UPDATE items SET text = 'of eight'")
            var (one, two) = (stage.device("7", seed: 1), stage.device("8", seed: 2))
            var tablet = stage.device("7", seed: 3)
            for round in 0..<2 {
                try await one.sync()
                try await two.sync()
                try await tablet.sync()
                let text: ClientValue = round == 0 ? "of seven" : "of seven anew"
                #expect(one.model.record("items", "fence")?.values["text"] == text)
                #expect(two.model.record("items", "fence")?.values["text"] == "of eight")
                // Only one of them has changed: the other's next pull brings nothing.
                if round == 0 { try seven.edit("UPDATE items SET text = 'of seven anew'") }
            }
            // The same id in both, and another one in each: updates, creations and deletions stay where they are made.
            try one.model.update("items", "fence", with: ["is_done": true])
            try two.model.update("items", "fence", with: ["position": 8])
            for number in 0..<3 {
                let values: [String: ClientValue] = ["text": .string("\(number)"), "list_id": "garden"]
                try one.model.create("items", values)
                if number < 2 { try two.model.create("items", values) }
            }
            try two.model.create("lists", ["title": "Eight", "created_at": 1_763_719_200_000])
            let lost = try await one.pushLosingAnswer()
            #expect(lost.isSuccess, "\(lost)")
            #expect(try await two.pushLosingAnswer().isSuccess)
            try await one.sync()
            try await two.sync()
            try await tablet.sync()
            try one.model.delete("items", "fence")
            try await one.sync()
            try eight.edit("UPDATE items SET due_at = NULL, text = 'late' WHERE id = 'fence'")
            _ = try await two.pullLosingAnswer()
            _ = try await one.pullLosingAnswer()
            for _ in 0..<2 {
                try await two.sync()
                try await one.sync()
                try await tablet.sync()
            }
            try Self.expectEqual(one, seven)
            try Self.expectEqual(tablet, seven)
            try Self.expectEqual(two, eight)
            #expect(one.model.contents["items"]?.count == 3 && two.model.contents["items"]?.count == 3)
            #expect(two.model.contents["lists"]?.count == 2)
            // No device has begun anew.
            #expect(!stage.gateway.log.contains(#""restart""#))
            #expect(stage.gateway.log.contains(#""scope":"\#(app.part)=7""#))
            let quiet = try await two.pull()
            #expect(quiet.applied.remoteChangeCount == 0)
        }
    }

    @Test(arguments: App.allCases)
    func `a cursor of one scope is unknown in another, as another user's is`(app: App) async throws {
        try await Self.with(app, ["pull.unknown_cursor": "refuse"]) { stage in
            var (one, two) = (stage.device("7", seed: 1), stage.device("8", seed: 2))
            try await one.sync()
            try await two.sync()
            (one.path, one.query) = app.address("8")
            let pull = try await one.pullLosingAnswer()
            #expect(pull.errorCode == "pull.unknown_cursor", "\(pull)")
            (one.path, one.query) = app.address("7")
            #expect(try await one.pullLosingAnswer().status == 200)
            #expect(stage.gateway.log.contains("pull.foreign_cursor"))
        }
    }

    @Test(arguments: App.allCases)
    func `whoever may not see a scope leaves nothing in the state, and one that was accepted opens no other`(app: App)
        async throws
    {
        try await Self.with(app) { stage in
            func send(_ scope: String, token: String) async throws -> [RawAnswer] {
                var device = stage.device(scope, seed: 9, token: token)
                try device.model.create("items", ["text": "x", "list_id": "garden"])
                return [try await device.pullLosingAnswer(), try await device.pushLosingAnswer()]
            }
            for number in 0..<20 {
                for answer in try await send("made-up-\(number)", token: number % 2 == 0 ? "ada-token" : "nobody") {
                    #expect(answer.status >= 400 && answer.errorCode != nil, "\(answer)")
                }
            }
            #expect(try stage.principals() == [])
            for answer in try await send("made-up", token: "ada-token") {
                #expect(answer.status == 404 && answer.errorCode == "request.scope_unknown", "\(answer)")
            }
            // Bob is accepted in 7 at this very moment; that says nothing about 8.
            var bob = stage.device("7", seed: 4, token: "bob-token")
            try await bob.sync()
            for answer in try await send("8", token: "bob-token") { #expect(answer.status == 403, "\(answer)") }
            #expect(try stage.principals() == ["\(app.part)=7"])
            #expect(try stage.backend.project("8").contents(of: "u-bob")["items"]?.isEmpty == true)
            // His own scope goes on.
            try bob.model.create("lists", ["title": "Bob's", "created_at": 1_763_719_200_000])
            try await bob.sync()
            #expect(try stage.backend.project("7").contents(of: "u-bob")["lists"]?.count == 1)
        }
    }

    @Test(arguments: App.allCases)
    func `a scope that is missing or hostile is refused before the backend is asked`(app: App) async throws {
        try await Self.with(app) { stage in
            let long = String(repeating: "x", count: 256)
            var cases = [("undefined", "request.scope_missing"), (long, "request.scope"), ("%00", "request.scope")]
            switch app {
            case .projects:
                cases += [("", "request.scope_missing")]
                cases += [("a%2F..%2Fb", "request.scope"), ("a%252Fb", "request.scope")]
            case .farms:
                cases += [("", "request.scope_missing"), ("..", "request.scope"), ("7&farm_id=8", "request.scope")]
            }
            for (scope, code) in cases {
                var device = stage.device(scope, seed: 1)
                try device.model.create("items", ["text": "x", "list_id": "garden"])
                for answer in [try await device.pullLosingAnswer(), try await device.pushLosingAnswer()] {
                    #expect(answer.status == 400 && answer.errorCode == code, "\(scope): \(answer)")
                }
            }
            #expect(try stage.principals() == [])
            // What is only odd goes through, in each place by its own rules.
            var odd = stage.device("a%20b%26c", seed: 2)
            try await odd.sync()
            try odd.model.create("lists", ["title": "odd", "created_at": 1_763_719_200_000])
            try odd.model.create("items", ["text": "odd", "list_id": "garden"])
            for _ in 0..<2 { try await odd.sync() }
            try Self.expectEqual(odd, stage.backend.project("a b&c"))
            #expect(try stage.principals() == ["\(app.part)=a%20b%26c"])
        }
    }

    @Test func `an operator finds a user's replicas in all scopes, and sees each scope`() async throws {
        try await Self.with(.projects) { stage in
            for (number, scope) in ["7", "8", "a%20b%26c"].enumerated() {
                var device = stage.device(scope, seed: UInt64(number + 1))
                for _ in 0..<2 { try await device.sync() }
            }
            var bob = stage.device("7", seed: 4, token: "bob-token")
            try await bob.sync()
            let hers = try await stage.rind("replicas", "list", "--user", "u-ada")
            for scope in ["path.id=7", "path.id=8", "path.id=a%20b%26c"] { #expect(hers.contains(scope), "\(hers)") }
            #expect(hers.contains("SCOPE") && hers.split(separator: "\n").count == 4)
            let json = try await stage.rind("replicas", "list", "--user", "u-ada", "--json")
            let user = try #require(json.firstMatch(of: /"user": ?"([0-9a-f]{12})"/)?.output.1)
            #expect(try await stage.rind("replicas", "list", "--principal", String(user)) == hers)
            let replica = try #require(hers.split(separator: "\n").last { $0.contains("path.id=8") }?.prefix(16))
            let shown = try await stage.rind("replicas", "show", String(replica))
            #expect(shown.contains("scope       path.id=8\n") && shown.contains("user        \(user)"))
            let why = try await stage.rind("why", "--replica", String(replica), "--table", "items", "--id", "fence")
            #expect(why.contains("items fence on \(replica) in path.id=8"))
            let several = try await stage.rind("why", "--user", "u-ada", "--table", "items", "--id", "fence")
            #expect(several.contains("several devices") && several.contains("path.id=7, seen"))
            let check = try await stage.rind(
                "check", "--connect", "--scope", "path.id=8", "--header", "Authorization: Bearer ada-token")
            #expect(check.contains("path.id: another replica for each") && check.contains("principal "), "\(check)")
            #expect(!check.contains("wrong  "), "\(check)")
            #expect(try await stage.rind("check", "--connect").contains("add --scope path.id=VALUE"))
        }
    }

    /// A backend, the gateway before it, and what tests ask of both.
    private struct Stage {
        let app: App
        let backend: PythonBackend
        let gateway: GatewayProcess
        let directory: String

        func device(_ scope: String, seed: UInt64, token: String = "ada-token") -> StackDevice {
            var device = StackDevice(
                model: ClientModel(schema: .python, version: 1, seed: seed), token: token, shape: .docs,
                http: gateway.http)
            (device.path, device.query) = app.address(scope)
            return device
        }

        /// The scopes of all principals in the state, sorted.
        func principals() throws -> [String] {
            try StateDump(path: "\(directory)/state.db", kinds: [.principal]).principals
                .map { $0.principal.origin?.scope ?? "" }.sorted()
        }

        /// Runs a command beside the gateway; returns all that it writes.
        func rind(_ arguments: String...) async throws -> String {
            let settings = ["RIND_BACKEND_URL=\(backend.url)", "RIND_STATE_URL=sqlite:\(directory)/state.db"]
            return try await Commands.run(
                ["env"] + settings + [GatewayProcess.program.path] + arguments + ["--config", "\(directory)/rind.ini"]
            ).output
        }
    }

    private static func with(
        _ app: App, _ overrides: [String: String] = [:], _ body: (Stage) async throws -> Void
    ) async throws {
        let examples = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
            .appending(path: "examples/python-backend/\(app.rawValue).ini")
        let configuration = try String(contentsOf: examples, encoding: .utf8)
        try await TemporaryDirectory.with { directory in
            try await PythonBackend.with(directory: directory, program: "projects.py") { backend in
                try await GatewayProcess.with(
                    backend: backend.url, directory: directory, overrides: overrides, configuration: configuration
                ) { gateway in
                    try await body(Stage(app: app, backend: backend, gateway: gateway, directory: directory))
                }
            }
        }
    }

    private static func expectEqual(
        _ device: StackDevice, _ backend: PythonBackend, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let differences = StackOracle.differences(device.model.contents, try backend.contents(of: "u-ada"))
        #expect(differences == [], sourceLocation: location)
    }
}
