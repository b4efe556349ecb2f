// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import Foundation
import JSONBytes
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct ReplicasTests {
    private static let phone = "0123456789abcdef"
    private static let tablet = "0123456700000001"
    private static let other = "7fff000000000001"

    @Test func `list shows every replica while a gateway has the state`() async throws {
        try await StateFixture.with { state in
            let result = try await state.run("replicas", "list")
            #expect(result.status == 0)
            #expect(result.error.isEmpty)
            let lines = result.out.split(separator: "\n").map(String.init)
            #expect(lines.count == 4)
            #expect(lines[0].hasPrefix("REPLICA "))
            #expect(lines[1].hasPrefix("\(Self.tablet)  a11ce0000000  no "))
            #expect(lines[2].hasPrefix("\(Self.phone)  a11ce0000000  yes        3       2027-01-15T08:00:00Z"))
            #expect(lines[2].hasSuffix("ProjectsV2"))
            #expect(lines[3].hasPrefix("\(Self.other)  b0b000000000"))
            #expect(!result.out.contains("beef"), "no whole digest is printed")
            #expect(!lines.contains { $0.hasSuffix(" ") })
        }
    }

    @Test func `list has pages, and can be of one principal`() async throws {
        try await StateFixture.with { state in
            let first = try await state.json("replicas", "list", "--limit", "2")
            #expect(Self.ids(first) == [Self.tablet, Self.phone])
            #expect(first["next"]?.string == Self.phone)
            let second = try await state.json("replicas", "list", "--limit", "2", "--after", Self.phone)
            #expect(Self.ids(second) == [Self.other])
            #expect(second["next"]?.isNull == true)
            #expect(Self.ids(try await state.json("replicas", "list", "--after", "8000000000000000")).isEmpty)
            let hers = try await state.json("replicas", "list", "--principal", "A11CE")
            #expect(Self.ids(hers) == [Self.tablet, Self.phone])
            let text = try await state.run("replicas", "list", "--limit", "1")
            #expect(text.out.hasSuffix("there are more: --after \(Self.tablet)\n"))
            #expect(try await state.run("replicas", "list", "--principal", "ffff").status == 66)
        }
    }

    @Test func `the members of a listed replica have the names that the manual has`() async throws {
        try await StateFixture.with { state in
            let list = try await state.json("replicas", "list")
            let phone = try #require(list["replicas"]?.array?[1])
            let show = try await state.json("replicas", "show", Self.phone)
            let names = (show.members ?? []).map(\.name)
            #expect((phone.members ?? []).map(\.name) == Array(names.prefix(13)))
            #expect(phone["records"]?.int64 == 4)
            #expect(phone["held_back"]?.array?.compactMap(\.string) == ["ProjectsV2"])
            let manual = try Place.text("docs/OPERATIONS.md")
            for name in names + ["next"] { #expect(manual.contains("`\(name)`"), "\(name)") }
        }
    }

    @Test func `show tells what a replica holds and when it was compared`() async throws {
        try await StateFixture.with { state in
            let result = try await state.run("replicas", "show", "0123456789")
            #expect(result.status == 0)
            #expect(result.out.contains("replica     \(Self.phone)\n"))
            #expect(result.out.contains("held back   deletions of ProjectsV2: 'rind replicas accept \(Self.phone)'"))
            #expect(result.out.contains(#/tasks +3 +3 +\d+/#))
            #expect(result.out.contains(#/TasksV2 +2027-01-15T08:00:00Z +from 2027-01-2[0-2]T\d\d:\d\d:\d\dZ\n/#))
            #expect(
                result.out.contains(
                    #/ProjectsV2 +never +from 2027-01-15T09:00:00Z, tried 2027-01-15T08:00:00Z, held back/#))
            #expect(result.out.contains(#/TagsV1 +never +with the next pull\n/#))
            let json = try await state.json("replicas", "show", Self.phone)
            let tables = json["tables"]?.array ?? []
            #expect(tables.compactMap { $0["table"]?.string } == ["projects", "tasks"])
            #expect(tables.compactMap { $0["records"]?.int64 } == [1, 3])
            let comparisons = json["sweeps"]?.array ?? []
            let tasks = try #require(comparisons.first { $0["request_type"]?.string == "TasksV2" })
            // A week later, or up to a quarter of that earlier.
            #expect((1_800_453_600_000...1_800_604_800_000).contains(tasks["due_at"]?.int64 ?? 0))
            #expect(tasks["held_back"]?.bool == false)
            #expect(json["confirmed_cursor"]?.int64 == 1_800_000_000_000)
        }
    }

    @Test func `forget, resync and accept reach the gateway that has the state`() async throws {
        try await StateFixture.with { state in
            let accepted = try await state.json("replicas", "accept", Self.phone)
            #expect(accepted["change"]?.string == "accepted" && accepted["changed"]?.bool == true)
            let resync = try await state.run("replicas", "resync", Self.phone)
            #expect(resync.status == 0 && resync.out.hasPrefix("\(Self.phone) is compared"))
            let context = try await state.store.read(StateFixture.alice) {
                try ContextRule.context(
                    of: &$0, session: Session(rawValue: "f0"), presented: try state.cursor(1_800_000_000_000))
            }
            #expect(context.acceptedAt >= 1_800_000_000_500 && context.resyncAt > 0)
            let shown = try await state.run("replicas", "show", Self.phone)
            #expect(shown.out.contains("\naccepted    ") && shown.out.contains("\nresync      asked for at "))
            let forgotten = try await state.run("replicas", "forget", Self.phone)
            #expect(forgotten.status == 0)
            let rest = try await state.store.inspection.replicas(of: nil, after: nil, limit: 9).map(\.id)
            #expect(rest == [StateFixture.tablet, StateFixture.other])
            try await state.store.check(thoroughly: true)
        }
    }

    @Test func `leave for deletions is not given ahead`() async throws {
        try await StateFixture.with { state in
            let json = try await state.json("replicas", "accept", Self.tablet)
            #expect(json["changed"]?.bool == false && json["change"]?.isNull == true)
            let row = try await state.store.inspection.replicas(of: nil, after: nil, limit: 1).first
            #expect(row?.id == StateFixture.tablet && row?.acceptedAt == 0)
        }
    }

    @Test(
        arguments: [
            ("0123456789abcdee", Int32(66), "The nearest: \(phone)."), ("0123ffff", 66, "\(tablet), \(phone)"),
            ("8888", 66, "'rind replicas list' shows all"), ("ffffffffffffffff", 66, "There is no replica"),
            ("0123", 64, "several replicas: \(tablet), \(phone). Name more digits."), ("012", 64, "4 to 16"),
            ("0123456789abcdef0", 64, "4 to 16"), ("phone", 64, "4 to 16"),
        ] as [(String, Int32, String)])
    func `a name that means no replica, or several, says which there are`(
        name: String, status: Int32, text: String
    ) async throws {
        try await StateFixture.with { state in
            for command in ["show", "forget", "resync", "accept"] {
                let result = try await state.run("replicas", command, name)
                #expect(result.status == status, "\(command)")
                #expect(result.error.contains(text), "\(result.error)")
                #expect(result.out.isEmpty)
            }
            #expect(try await state.store.inspection.replicas(of: nil, after: nil, limit: 9).count == 3)
        }
    }

    @Test func `a state that is not there is not made`() async throws {
        try await Place.withDirectory { directory in
            let result = try await RunningCommand.run(
                "replicas", "list", "--config", Place.quickstart, directory: directory)
            #expect(result.status == 73)
            #expect(result.error.contains("(state.open)"))
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path(percentEncoded: false))
            #expect(names.isEmpty)
        }
    }

    @Test(arguments: [["--limit", "0"], ["--limit", "5001"], ["--after", "0123"], ["--principal", "xyz1"]])
    func `arguments that a list cannot have are refused`(arguments: [String]) async throws {
        let result = try await RunningCommand.run(["replicas", "list", "--config", "x"] + arguments)
        #expect(result.status == 64)
    }

    @Test func `a replica of a running gateway is listed, shown and forgotten`() async throws {
        try await DemoBackend.withRunning { backend in
            try await ServedGateway.with(backend) { gateway in
                func pull(_ cursor: String) async throws -> String {
                    let answer = try await gateway.get(
                        "/sync?last_pulled_at=\(cursor)&schema_version=3", token: "ada-token")
                    #expect(answer.status == 200)
                    let timestamp = try JSONValue.parse(answer.body)["timestamp"]?.int64
                    return try "\(#require(timestamp))"
                }
                var cursor = try await pull("null")
                func run(_ arguments: String...) async throws -> Finished {
                    try await RunningCommand.run(
                        arguments + ["--config", Place.quickstart], directory: gateway.directory
                    )
                }
                let list = try JSONValue.parse(try await run("replicas", "list", "--json").out)
                let id = try #require(Self.ids(list).first)
                #expect(try await run("replicas", "show", id).out.contains("schema      version 3"))
                #expect(try await run("replicas", "resync", id).status == 0)
                #expect(try await run("replicas", "show", id).out.contains(", due with the next pulls\n"))
                for _ in 0..<2 { cursor = try await pull(cursor) }
                let shown = try await run("replicas", "show", id).out
                #expect(shown.contains(/\nresync      asked for at .*, done\n/), "\(shown)")
                #expect(try await run("replicas", "forget", id).status == 0)
                #expect(try await run("replicas", "list").out == "no replicas\n")
                #expect(try await gateway.get("/sync?last_pulled_at=null", token: "ada-token").status == 200)
            }
        }
    }

    private static func ids(_ list: JSONValue) -> [String] {
        (list["replicas"]?.array ?? []).compactMap { $0["id"]?.string }
    }
}
