// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import JSONBytes
import SQLiteState
import StateStore
import SyncModel
import Testing

@Suite struct JournalCommandTests {
    private static let time: Instant = 1_800_000_000_000

    /// The state of the fixture with a failed push of Alice's and an open one of Bob's.
    private static func with(_ body: (StateFixture) async throws -> Void) async throws {
        try await StateFixture.with { state in
            func begin(_ principal: Principal) async throws -> Int64 {
                let id = try await state.store.change(principal) {
                    try JournalRules.begin(
                        presenting: state.cursor(time.milliseconds), operations: 3, notes: [], at: time, in: &$0)
                }
                var step = JournalStep()
                step.inFlight = ["t-1", "t-2"].enumerated().map { place, id in
                    InFlightOperation(
                        index: place, kind: .create, record: PushedRecordKey(table: "tasks", id: id), makesID: true,
                        request: InFlightOperation.Request(
                            method: "POST", target: "/tasks", body: Array(#"{"name":"mine"}"#.utf8), key: "k"))
                }
                try await state.store.change(principal) {
                    try JournalRules.advance(step, of: id, at: time + 1, in: &$0)
                }
                return id
            }
            let failed = try await begin(StateFixture.alice)
            var last = JournalStep()
            last.applied = [0]
            try await state.store.change(StateFixture.alice) {
                try JournalRules.end(
                    JournalEnd(
                        step: last,
                        failure: PushJournal.Failure(
                            code: "push.rejected", message: "no\u{1B}[31m",
                            record: PushedRecordKey(table: "tasks", id: "t-2"))), of: failed, at: time + 2, in: &$0)
            }
            _ = try await begin(StateFixture.bob)
            try await body(state)
        }
    }

    @Test func `list shows what runs and what was interrupted, and nothing of its records`() async throws {
        try await Self.with { state in
            let result = try await state.run("journal", "list")
            #expect(result.status == 0 && result.error.isEmpty)
            let lines = result.out.split(separator: "\n").map(String.init)
            #expect(lines.count == 3)
            #expect(lines[0].hasPrefix("JOURNAL  PRINCIPAL     STATE   APPLIED  REASON"))
            #expect(lines[1].contains(#/^1 +a11ce0000000  failed  1 of 3 +push.rejected: no.* tasks t-2 /#))
            #expect(lines[2].contains(#/^2 +b0b000000000  open +0 of 3 +- /#))
            #expect(!result.out.contains("mine") && !result.out.contains("\u{1B}"))
        }
    }

    @Test func `list has pages, and can be of one principal`() async throws {
        try await Self.with { state in
            func ids(_ list: JSONValue) -> [Int64?] { (list["journals"]?.array ?? []).map { $0["journal"]?.int64 } }
            let first = try await state.json("journal", "list", "--limit", "1")
            #expect(ids(first) == [1] && first["next"]?.int64 == 1)
            let second = try await state.json("journal", "list", "--after", "1")
            #expect(ids(second) == [2] && second["next"]?.isNull == true)
            #expect(ids(try await state.json("journal", "list", "--principal", "b0b0")) == [2])
        }
    }

    @Test func `show names unknown outcomes, with members that the manual names`() async throws {
        try await Self.with { state in
            let text = try await state.run("journal", "show", "2")
            #expect(text.status == 0 && text.out.contains("unknown\n  create tasks t-1\n  create tasks t-2\n"))
            #expect(!text.out.contains("mine"))
            let json = try await state.json("journal", "show", "1")
            #expect(json["state"]?.string == "failed" && json["applied"]?.int64 == 1)
            #expect(json["code"]?.string == "push.rejected" && json["record"]?.string == "t-2")
            #expect(json["unknown"]?.array?.isEmpty == true)
            let missing = try await state.run("journal", "show", "7")
            #expect(missing.status != 0 && missing.error.contains("There is no journal 7."))
        }
    }
}
