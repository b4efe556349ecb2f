// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import JSONBytes
import SyncModel
import Testing

@testable import rind

@Suite struct ExplainSchemaTests {
    private static func run(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> Finished {
        try await RunningCommand.run(
            ["explain", "schema", "--config", Place.sample] + arguments,
            environment: SchemaUpdateTests.key.merging(environment) { $1 }
        )
    }

    /// The piece of the manual that shows what a command prints.
    private static func manual(of command: String) throws -> String {
        let page = try Place.text("docs/OPERATIONS.md")
        let start = try #require(page.range(of: "```\n$ \(command)\n"), "\(command)")
        let end = try #require(page.range(of: "```", range: start.upperBound..<page.endIndex))
        return String(page[start.upperBound..<end.lowerBound])
    }

    @Test func `the history of the sample is as the manual shows it`() async throws {
        let result = try await Self.run()
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.out == (try Self.manual(of: "rind explain schema --config config/rind.ini")))
    }

    @Test func `an update of the sample is as the manual shows it`() async throws {
        let result = try await Self.run("--from", "8", "--to", "12")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(
            result.out == (try Self.manual(of: "rind explain schema --config config/rind.ini --from 8 --to 12")))
        #expect(try await Self.run("--from", "8").out == result.out, "the newest version by default")
    }

    @Test func `a refusal is an answer like any other`() async throws {
        let result = try await Self.run("--from", "12", "--to", "9")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.out.hasPrefix("From schema version 12 to 9: the gateway answers 400 (schema.went_back).\n"))
        #expect(result.out.contains("\nhint: "))
    }

    @Test func `without any since the history says how to begin one`() async throws {
        var schema = Schema(tables: [Table(name: "notes")])
        schema.version = 1
        let lines = SchemaHistory(schema).lines
        #expect(lines.first == "Apps of schema version 1 are served. Migrations are enabled.")
        #expect(lines.contains("  tables   notes (0)"))
        #expect(lines.contains { $0.hasPrefix("No 'since' stands in the configuration") })
    }

    @Test func `the history has what every version brought, also one that is no longer served`() throws {
        var schema = try SchemaUpdateTests.schema()
        schema.oldest = 10
        let history = SchemaHistory(schema)
        #expect(history.entries.map(\.version) == [1, 9, 12])
        #expect(history.entries[1].tables == [.init(table: "album_assets", columns: ["album_id", "asset_id"])])
        #expect(history.entries[1].types == ["AlbumToAssetsV1"] && history.entries[1].replaced.isEmpty)
        #expect(history.entries[2].columns.map(\.columns) == [["is_activity_enabled"], ["duration_ms"]])
        #expect(history.entries[2].replaced.map(\.old) == ["AlbumsV1", "AssetsV1", "PartnerAssetsV1"])
        #expect(history.lines.contains("version 9, no longer served"))
        #expect(history.json["history"]?[2]?["replaced"]?[0]?["new"]?.string == "AlbumsV2")
    }

    @Test(
        arguments: [
            ["--from", "0"], ["--from", "-1"], ["--from", "1.5"], ["--from", "1000000001"],
            ["--from", "9", "--to", "0"],
            ["--to", "12"], ["--principal", "a11ce"], ["--from", "9", "--principal", "xyz1"],
            ["--from", "9", "--principal", "a11"], ["--from", "99999999999999999999"],
        ])
    func `arguments that mean nothing are refused`(arguments: [String]) async throws {
        let result = try await RunningCommand.run(["explain", "schema", "--config", Place.sample] + arguments)
        #expect(result.status == 64 && result.out.isEmpty)
        #expect(result.error.contains("Usage: rind explain schema"))
    }

    @Test func `a configuration with mistakes explains nothing`() async throws {
        let result = try await Self.run("--from", "9", environment: ["RIND_SCHEMA_VERSION": "11"])
        #expect(result.status == 78 && result.out.isEmpty)
        #expect(result.error.contains("above schema version 11"))
    }

    @Test func `the records of a principal are counted while a gateway has the state`() async throws {
        try await StateFixture.with { state in
            let json = try await state.json("explain", "schema", "--from", "2", "--principal", "A11CE")
            #expect(json["principal"]?.string == "a11ce0000000")
            #expect(json["replicas"]?.int64 == 2 && json["replicas_at_from"]?.int64 == 0)
            let tables = json["tables"]?.array ?? []
            #expect(
                tables.compactMap { $0["table"]?.string } == ["projects", "tasks", "comments", "tags", "task_tags"])
            #expect(tables.map { $0["records"]?.int64 } == [1, 3, nil, nil, nil])
            // tasks have come by TasksV2 already.
            #expect(json["records"]?.int64 == 1)
            #expect(json["uncounted"]?.array?.compactMap(\.string) == ["tags", "task_tags"])
            let text = try await state.run("explain", "schema", "--from", "2", "--principal", "a11ce")
            #expect(text.out.contains("\n  records   about 1\n") && !text.out.contains("beef"))
            let nobody = try await state.run("explain", "schema", "--from", "2", "--principal", "ffff")
            #expect(nobody.status == 66 && nobody.out.isEmpty)
            #expect(nobody.error.contains("There is no principal ffff in the state."))
        }
    }

    @Test func `without a principal no state is needed, with one it must be there`() async throws {
        try await Place.withDirectory { directory in
            let command = ["explain", "schema", "--config", Place.quickstart, "--from", "2"]
            let plain = try await RunningCommand.run(command, directory: directory)
            #expect(plain.status == 0)
            let counting = try await RunningCommand.run(
                command + ["--principal", "a11ce"], directory: directory
            )
            #expect(counting.status == 73 && counting.error.contains("(state.open)"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path(percentEncoded: false)).isEmpty)
        }
    }

    @Test func `the members of the JSON have the names that the manual has`() async throws {
        let manual = try Place.text("docs/OPERATIONS.md")
        let update = SchemaUpdate(from: 8, to: 12, schema: try SchemaUpdateTests.schema()).json
        let history = SchemaHistory(try SchemaUpdateTests.schema()).json
        let parts = [
            update, update["tables"]?[0], update["request_types"]?[0], history, history["history"]?[0],
            history["history"]?[2]?["replaced"]?[0],
        ]
        for part in parts {
            for name in try #require(part?.members).map(\.name) { #expect(manual.contains("`\(name)`"), "\(name)") }
        }
    }

    @Test func `a device of a running gateway is counted and its next update explained`() async throws {
        try await DemoBackend.withRunning { backend in
            try await backend.seed()
            try await ServedGateway.with(backend) { gateway in
                #expect(
                    try await gateway.get("/sync?last_pulled_at=null&schema_version=1", token: "ada-token").status
                        == 200)
                func json(_ arguments: String...) async throws -> JSONValue {
                    let result = try await RunningCommand.run(
                        arguments + ["--json", "--config", Place.quickstart], directory: gateway.directory)
                    return try JSONValue.parse(result.out)
                }
                let list = try await json("replicas", "list")
                let principal = try #require(list["replicas"]?[0]?["principal"]?.string)
                let records = try #require(list["replicas"]?[0]?["records"]?.int64)
                let update = try await json("explain", "schema", "--from", "1", "--principal", principal)
                #expect(update["replicas_at_from"]?.int64 == 1)
                #expect(records > 0 && update["records"]?.int64 == records)
                #expect(update["uncounted"]?.array?.compactMap(\.string) == ["comments", "tags", "task_tags"])
                let text = try await RunningCommand.run(
                    ["explain", "schema", "--config", Place.quickstart, "--from", "1", "--principal", principal],
                    directory: gateway.directory)
                let counted = text.out.split(separator: "\n").suffix(2).joined(separator: "\n")
                #expect(counted.hasPrefix("\(principal) has 1 replica, 1 of version 1.\n"))
                #expect(try Place.text("docs/OPERATIONS.md").contains(counted.dropFirst(principal.count)))
            }
        }
    }
}
