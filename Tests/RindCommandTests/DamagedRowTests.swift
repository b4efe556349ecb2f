// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Gateway
import GatewayConfig
import GatewayTesting
import JSONBytes
import Logging
import StateStore
import SyncModel
import Testing

@testable import rind

/// The commands and the collection over a state in which something cannot be read.
@Suite struct DamagedRowTests {
    private static let time: Instant = 1_800_000_000_000

    /// Writes bytes that are no head in place of a principal's own row, or of its first one of another kind.
    private static func damage(_ kind: RowKind, of principal: Principal, in state: StateFixture) async throws {
        let own = Lookup.row(RowKey(.principal, of: principal.owner))
        let rows = try await state.store.store.load([kind == .principal ? own : .all(kind, of: principal.owner)])[0]
        let row = try #require(rows.first)
        var changes = RowChanges()
        changes.rows[row.key] = ByteRow(key: row.key, version: 99, number: row.number, rank: row.rank, bytes: [1, 2])
        try await state.store.commit(changes)
    }

    /// Returns the names of the members that are known.
    private static func known(_ value: JSONValue?) -> Set<String> {
        Set((value?.members ?? []).filter { !$0.value.isNull }.map(\.name))
    }

    @Test func `a quarantined record of which only the body is left is listed, shown and dropped`() async throws {
        try await StateFixture.with { state in
            let push = QuarantinedOperation(
                key: PushedRecordKey(table: "tasks", id: "t-1"), kind: .update, body: Array(#"{"name":"mine"}"#.utf8),
                reason: QuarantinedOperation.Reason(code: "push.rejected", status: 422))
            _ = try await state.store.change(StateFixture.alice) {
                try QuarantineRules.add([push], limit: 9, at: Self.time, in: &$0)
            }
            try await Self.damage(.push, of: StateFixture.alice, in: state)
            let list = try await state.run("quarantine", "list")
            #expect(list.out.contains(#/push-1  a11ce0000000  tasks  t-1 +- +state.corrupt +- +- +-/#))
            let shown = try await state.run("quarantine", "show", "push-1")
            #expect(shown.out.hasSuffix("reason      state.corrupt\n\n{\"name\":\"mine\"}\n"))
            let json = try await state.json("quarantine", "list")["entries"]?.array?.first
            #expect(Self.known(json) == ["id", "kind", "principal", "user", "table", "record", "reason"])
            #expect(try await state.run("quarantine", "drop", "push-1").status == 0)
            #expect(try await state.run("quarantine", "list").out == "the quarantine is empty\n")
        }
    }

    @Test func `a journal that cannot be read is listed, and tells only its state`() async throws {
        try await StateFixture.with { state in
            _ = try await state.store.change(StateFixture.bob) {
                try JournalRules.begin(presenting: nil, operations: 3, notes: [], at: Self.time, in: &$0)
            }
            try await Self.damage(.journal, of: StateFixture.bob, in: state)
            let list = try await state.run("journal", "list")
            #expect(list.out.contains(#/1 +b0b000000000  open +- +state.corrupt +- +- +-/#))
            let json = try await state.json("journal", "list")["journals"]?.array?.first
            #expect(Self.known(json) == ["journal", "principal", "user", "state", "code"])
        }
    }

    @Test func `a replica that cannot be read is listed, and why says what is to be done`() async throws {
        try await StateFixture.with { state in
            try await Self.damage(.replica, of: StateFixture.bob, in: state)
            let list = try await state.run("replicas", "list", "--principal", "b0b0")
            #expect(list.out.contains(#/b0b000000000 +- +- +- +- +state.corrupt +- +-/#))
            for device in [["--principal", "b0b0"], ["--replica", StateFixture.other.description]] {
                let why = try await RunningCommand.run(
                    ["why"] + device + ["--table", "tasks", "--id", "t-1", "--config", Place.quickstart],
                    directory: state.directory)
                #expect(why.status == ExitStatus.inputOutput.rawValue)
                #expect(why.error.contains("'rind replicas forget \(StateFixture.other)' deletes what is left"))
            }
        }
    }

    @Test func `the collection says whose state it could not read, and how many there are`() async throws {
        try await StateFixture.with { state in
            try await Self.damage(.principal, of: StateFixture.bob, in: state)
            let log = CapturedLog()
            try await Housekeeping(
                store: state.store, ledger: { GatewayConfig.Configuration.Ledger() }, clock: OneLook(),
                logger: log.logger("test")
            ).run()
            let line = try #require(log.lines.first { $0.metadata["code"] == "state.corrupt" })
            #expect(line.metadata["principals"] == "1")
            #expect(line.metadata["first"]?.hasPrefix("principal \(StateFixture.bob): ") == true)
        }
    }

    /// A clock at which housekeeping ends instead of waiting for the next hour.
    private struct OneLook: WallClock {
        let now = DamagedRowTests.time
        func sleep(milliseconds: Int64) async throws { throw CancellationError() }
    }
}
