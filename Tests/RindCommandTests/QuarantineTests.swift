// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import DemoBackend
import JSONBytes
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct QuarantineTests {
    private static let time: Instant = 1_800_000_000_000

    /// The state of the fixture with two pushed records of Alice's, one of Bob's, and two lines of Bob's.
    private static func with(_ body: (StateFixture) async throws -> Void) async throws {
        try await StateFixture.with { state in
            func push(_ id: String, _ kind: OperationKind, _ message: String) -> QuarantinedOperation {
                QuarantinedOperation(
                    key: PushedRecordKey(table: "tasks", id: id), kind: kind,
                    body: kind == .delete ? [] : Array(#"{"id":"\#(id)","name":"mine"}"#.utf8),
                    reason: QuarantinedOperation.Reason(code: "push.rejected", status: 422, message: message))
            }
            _ = try await state.store.change(StateFixture.alice) {
                try QuarantineRules.add(
                    [push("t-1", .update, "status 422"), push("t-2", .delete, "no\u{1B}[31m")], limit: 9, at: time,
                    in: &$0)
            }
            _ = try await state.store.change(StateFixture.bob) {
                try QuarantineRules.add([push("t-1", .create, "status 422")], limit: 9, at: time, in: &$0)
            }
            let lines = ["a/", "b/"].map { id in
                QuarantinedLine(
                    reason: .unsafeID, type: "TaskV2", namespace: "TaskV2", table: "tasks", id: id,
                    bytes: Array("{\"type\":\"TaskV2\"}".utf8))
            }
            let row = CursorRow(
                principal: StateFixture.bob, cursor: try state.cursor(time.milliseconds + 1),
                replica: ReplicaID(rawValue: 9),
                parent: nil, vector: CheckpointVector(["TagV1": "TagV1|1"]), schemaVersion: 3,
                session: Session(rawValue: "f0"), generation: 0, mappingDigest: "m")
            try await state.store.commit(PullCommit(row: row, replica: .new, quarantined: lines, now: time + 1))
            try await body(state)
        }
    }

    private static func ids(_ list: JSONValue) -> [String] {
        (list["entries"]?.array ?? []).compactMap { $0["id"]?.string }
    }

    @Test func `list shows pushed records and lines while a gateway has the state`() async throws {
        try await Self.with { state in
            let result = try await state.run("quarantine", "list")
            #expect(result.status == 0 && result.error.isEmpty)
            let lines = result.out.split(separator: "\n").map(String.init)
            #expect(lines.count == 6)
            #expect(lines[0].hasPrefix("ENTRY   PRINCIPAL     TABLE  RECORD  CHANGE  REASON"))
            #expect(lines[1].contains(#/^push-1  a11ce0000000  tasks  t-1 +update  push.rejected: status 422 +1 /#))
            #expect(lines[4].contains(#/^line-1  b0b000000000  tasks  a/ +TaskV2  record.unsafe_id +1 /#))
            #expect(!result.out.contains("mine") && !result.out.contains("beef") && !result.out.contains("\u{1B}"))
            #expect(!lines.contains { $0.hasSuffix(" ") })
        }
    }

    @Test func `list has pages over both kinds, and can be of one kind or one principal`() async throws {
        try await Self.with { state in
            #expect(
                Self.ids(try await state.json("quarantine", "list"))
                    == ["push-1", "push-2", "push-3", "line-1", "line-2"])
            let first = try await state.json("quarantine", "list", "--limit", "4")
            #expect(Self.ids(first).last == "line-1" && first["next"]?.string == "line-1")
            let second = try await state.json("quarantine", "list", "--after", "line-1")
            #expect(Self.ids(second) == ["line-2"] && second["next"]?.isNull == true)
            #expect(Self.ids(try await state.json("quarantine", "list", "--after", "push-2")).first == "push-3")
            #expect(Self.ids(try await state.json("quarantine", "list", "--pushes")).count == 3)
            #expect(Self.ids(try await state.json("quarantine", "list", "--lines")).count == 2)
            let hers = try await state.json("quarantine", "list", "--principal", "a11ce")
            #expect(Self.ids(hers) == ["push-1", "push-2"])
            let text = try await state.run("quarantine", "list", "--limit", "1")
            #expect(text.out.hasSuffix("there are more: --after push-1\n"))
        }
    }

    @Test func `show has the record as it was pushed, with members that the manual names`() async throws {
        try await Self.with { state in
            let text = try await state.run("quarantine", "show", "push-1")
            #expect(
                text.out.contains("record      t-1\n") && text.out.hasSuffix("{\"id\":\"t-1\",\"name\":\"mine\"}\n"))
            #expect(text.out.contains("'rind quarantine retry push-1'"))
            #expect(try await state.run("quarantine", "show", "push-2").out.hasSuffix("nothing of it is kept\n"))
            let json = try await state.json("quarantine", "show", "PUSH-1")
            #expect(json["status"]?.int64 == 422 && json["change"]?.string == "update" && json["count"]?.int64 == 1)
            #expect(json["content"]?.string == #"{"id":"t-1","name":"mine"}"#)
            let line = try await state.json("quarantine", "show", "line-2")
            #expect(line["reason"]?.string == "record.unsafe_id" && line["content_bytes"]?.int64 == 17)
            #expect(json.members?.map(\.name) == line.members?.map(\.name))
            let manual = try Place.text("docs/OPERATIONS.md")
            let listed = try await state.json("quarantine", "list").members?.map(\.name) ?? []
            for name in (json.members ?? []).map(\.name) + listed { #expect(manual.contains("`\(name)`"), "\(name)") }
        }
    }

    @Test func `retry marks pushed records, and has the replicas of lines compared`() async throws {
        try await Self.with { state in
            let marked = try await state.run("quarantine", "retry", "push-2", "line-1")
            #expect(marked.status == 0, "\(marked.error)")
            #expect(
                marked.out == """
                    push-2 marked: tried with the next sync of the principal.
                    line-1: 2 replicas have everything compared with their next pull.

                    """)
            #expect(
                try await state.store.read(StateFixture.alice) { try QuarantineRules.scheduled(limit: 9, of: &$0) }.map(
                    \.id) == [2])
            let rows = try await state.store.inspection.replicas(of: StateFixture.bob, after: nil, limit: 9)
            #expect(rows.count == 2 && rows.allSatisfy { $0.resyncAt > 0 })
            #expect(try await state.run("quarantine", "show", "push-2").out.contains("retry       marked at "))
            #expect(try await state.run("quarantine", "list").out.contains("waits for the next sync"))
            let all = try await state.json("quarantine", "retry", "--all", "--principal", "b0b0")
            #expect(all["entries"]?.array?.compactMap(\.string) == ["push-3"])
            #expect(try await state.json("quarantine", "retry", "--all")["entries"]?.array?.count == 3)
        }
    }

    @Test func `drop forgets what was named, and nothing where one is not there`() async throws {
        try await Self.with { state in
            let slip = try await state.run("quarantine", "drop", "push-1", "push-17", "line-99")
            #expect(slip.status == 66 && slip.error.contains("no push-17, line-99"))
            #expect(try await state.store.inspection.quarantinedPushes(of: nil, after: 0, limit: 9).count == 3)
            let json = try await state.json("quarantine", "drop", "push-1", "line-2", "push-1")
            #expect(json["change"]?.string == "dropped")
            #expect(json["entries"]?.array?.compactMap(\.string) == ["push-1", "line-2"])
            #expect(Self.ids(try await state.json("quarantine", "list")) == ["push-2", "push-3", "line-1"])
        }
    }

    @Test func `what a running gateway has quarantined comes through once it is retried`() async throws {
        try await DemoBackend.withRunning { backend in
            try await ServedGateway.with(backend, environment: ["RIND_PUSH_REJECTED": "quarantine"]) { gateway in
                func run(_ arguments: String...) async throws -> Finished {
                    try await RunningCommand.run(
                        ["quarantine"] + arguments + ["--config", Place.quickstart], directory: gateway.directory
                    )
                }
                backend.rejectedIDs = ["n-1"]
                let push =
                    #"{"tags":{"created":[{"id":"n-1","label":"a"},{"id":"n-2","label":"b"}],"updated":[],"deleted":[]}}"#
                let answer = try await gateway.post("/sync", push, token: "ada-token")
                #expect(answer.status == 200 && answer.body == "{}")
                #expect(await gateway.command.errorMatch(#"push\.quarantined"#) != nil)
                let shown = try await run("show", "push-1")
                #expect(shown.out.contains("record      n-1\n") && shown.out.contains(#""label":"a""#))
                backend.rejectedIDs = []
                let retried = try await run("retry", "push-1")
                #expect(retried.status == 0, "\(retried.error)")
                let pull = try await gateway.get("/sync?last_pulled_at=null&schema_version=3", token: "ada-token")
                #expect(pull.status == 200 && pull.body.contains("n-1"))
                let tags = try await backend.records()["tags"]
                #expect(tags?["n-1"] != nil && tags?["n-2"] != nil)
                let list = try await run("list")
                #expect(list.out == "the quarantine is empty\n")
            }
        }
    }

    @Test(
        arguments: [
            ["list", "--limit", "0"], ["list", "--pushes", "--lines"], ["list", "--after", "7"], ["show", "7"],
            ["show", "push-0"], ["show", "push-+1"], ["retry"], ["retry", "--all", "push-1"], ["drop"],
            ["retry", "push-1", "--principal", "a11ce"], ["drop", "replica-1"],
        ])
    func `arguments that mean nothing are refused`(arguments: [String]) async throws {
        let result = try await RunningCommand.run(["quarantine"] + arguments + ["--config", "x"])
        #expect(result.status == 64)
    }

    @Test func `an empty quarantine is said to be empty`() async throws {
        try await StateFixture.with { state in
            let (list, retry) = (
                try await state.run("quarantine", "list"), try await state.run("quarantine", "retry", "--all")
            )
            #expect(list.out == "the quarantine is empty\n" && list.status == 0)
            #expect(retry.out.hasPrefix("no pushed record") && retry.status == 0)
        }
    }
}
