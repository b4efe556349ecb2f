// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import JSONBytes
import StateStore
import SyncModel
import Testing

/// The way from a user to their devices and entries.
@Suite struct UserOptionTests {
    private static let ada = DemoConfiguration.Account.ada.id

    @Test func `the devices of a user are found by the id that the backend gives them`() async throws {
        try await DemoBackend.withRunning { backend in
            try await ServedGateway.with(backend) { gateway in
                for token in ["ada-token", "bob-token"] {
                    #expect(
                        try await gateway.get("/sync?last_pulled_at=null&schema_version=3", token: token).status == 200)
                }
                func run(_ arguments: String...) async throws -> Finished {
                    try await RunningCommand.run(
                        arguments + ["--config", Place.quickstart], directory: gateway.directory
                    )
                }
                let all = try JSONValue.parse(try await run("replicas", "list", "--json").out)
                #expect(all["replicas"]?.array?.count == 2)
                let hers = try JSONValue.parse(try await run("replicas", "list", "--user", Self.ada, "--json").out)
                let replica = try #require(hers["replicas"]?.array?.first)
                #expect(hers["replicas"]?.array?.count == 1)
                let principal = try #require(replica["principal"]?.string)
                let same = try JSONValue.parse(
                    try await run("replicas", "list", "--principal", principal, "--json").out)
                #expect(same == hers)
                let why = try await run("why", "--user", Self.ada, "--table", "tasks", "--id", "t-1")
                #expect(why.status == 0 && why.out.contains("t-1 on \(replica["id"]?.string ?? "?")"))
                for command in [["journal", "list"], ["quarantine", "list"], ["explain", "schema", "--from", "1"]] {
                    let arguments = command + ["--user", Self.ada, "--config", Place.quickstart]
                    let result = try await RunningCommand.run(arguments, directory: gateway.directory)
                    #expect(result.status == 0, "\(result.error)")
                }
                let retry = try await run("quarantine", "retry", "--all", "--user", Self.ada)
                #expect(retry.status == 0, "\(retry.error)")
                let erased = try await run("principals", "erase", Self.ada)
                #expect(erased.status == 0 && erased.out.contains("\n  replica "), "\(erased.error)")
                #expect(try await run("principals", "erase", Self.ada).status == 66)
                let nobody = try await run("replicas", "list", "--user", "nobody")
                #expect(nobody.status == 66 && nobody.error.contains("The state has no user 'nobody'"))
                let bearer = try await RunningCommand.run(
                    "replicas", "list", "--user", Self.ada, "--config", Place.quickstart,
                    environment: ["RIND_IDENTITY_PRINCIPAL": "bearer"], directory: gateway.directory)
                #expect(bearer.status == 64 && bearer.error.contains("has no ids of users"))
            }
        }
    }

    @Test func `a list by last contact has the newest first, of all users by the hour, in pages`() async throws {
        try await StateFixture.with { state in
            let newest = [StateFixture.tablet, StateFixture.phone, StateFixture.other].map(\.description)
            // All of them were seen in the same hour.
            let all = newest.sorted(by: >)
            let cases: [([String], [String])] = [
                ([], all), (["--limit", "1"], [all[0]]), (["--limit", "1", "--after", all[0]], [all[1]]),
                (["--after", all[1]], [all[2]]), (["--principal", "a11ce"], Array(newest.prefix(2))),
                (["--principal", "a11ce", "--after", newest[0]], [newest[1]]),
            ]
            for (arguments, expected) in cases {
                let result = try await RunningCommand.run(
                    ["replicas", "list", "--sort", "last-contact", "--json", "--config", Place.quickstart] + arguments,
                    directory: state.directory
                )
                #expect(result.status == 0, "\(result.error)")
                let list = try JSONValue.parse(result.out)["replicas"]?.array ?? []
                #expect(list.compactMap { $0["id"]?.string } == expected)
            }
        }
    }

    @Test func `a list by last contact says so where the replica to go on from has gone`() async throws {
        try await StateFixture.with { state in
            let gone = "00000000000000aa"
            let list = try await state.run("replicas", "list", "--sort", "last-contact", "--after", gone)
            #expect(list.status == 66 && list.out.isEmpty)
            #expect(list.error.contains("There is no replica \(gone) any more"), "\(list.error)")
            let last = [StateFixture.tablet, StateFixture.phone, StateFixture.other].map(\.description).min() ?? ""
            let end = try await state.run("replicas", "list", "--sort", "last-contact", "--after", last)
            #expect(end.status == 0 && end.out == "no replicas\n", "\(end.error)")
            // By IDs what comes behind is known whether or not it is there.
            #expect(try await state.run("replicas", "list", "--after", gone).status == 0)
        }
    }

    @Test func `a user with several devices is told which, the last one first`() async throws {
        try await StateFixture.with { state in
            let result = try await state.run(
                "why", "--principal", "a11ce", "--table", "tasks", "--id", "t-1")
            #expect(result.status == 64)
            #expect(
                result.error.contains(
                    "several devices: \(StateFixture.tablet) (seen 2027-01-15T08:03:20Z), \(StateFixture.phone) (seen ")
            )
        }
    }

    @Test(arguments: [
        ["replicas", "list", "--user", "a", "--principal", "abcd"], ["replicas", "list", "--user", ""],
        ["replicas", "list", "--sort", "name"], ["why", "--table", "tasks", "--id", "t"],
        ["why", "--replica", "0123", "--user", "a", "--table", "tasks", "--id", "t"],
        ["explain", "schema", "--user", "a"], ["quarantine", "retry", "push-1", "--user", "a"],
    ])
    func `arguments that do not go together are refused`(_ arguments: [String]) async throws {
        #expect(try await RunningCommand.run(arguments + ["--config", "x"]).status == 64)
    }
}
