// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import LineProjection
import SyncModel
import Testing

/// Which pushed records another user has changed, by stream and ledger (finding 22).
@Suite struct ConflictCheckTests {
    typealias Bench = LedgerDiffBench
    typealias Finding = ConflictCheck.Finding

    /// A device that holds `held`, has deleted `tombstone`, and knows nothing else.
    private static func bench(_ table: Table = Bench.table("tasks")) async throws -> Bench {
        var table = table
        table.upserts = ["TaskV1"]
        var bench = Bench(table)
        _ = try await bench.pull {
            $0.row("tasks", "held")
            $0.row("tasks", "tombstone")
        }
        _ = try await bench.pull { $0.delete("tasks", "tombstone") }
        return bench
    }

    @Test(arguments: [
        ("held", 2, Finding.changed), ("held", 1, .none), ("tombstone", 1, .appeared), ("new", 1, .appeared),
    ])
    func `a row is in conflict when its content differs from the ledger's`(
        id: String, content: UInt64, expected: Finding
    ) async throws {
        let bench = try await Self.bench()
        #expect(try await bench.check([id]) { $0.row("tasks", id, content: content) } == [expected])
    }

    @Test(arguments: [("held", Finding.deleted), ("tombstone", .none), ("new", .deleted)])
    func `a deletion is in conflict for an update, unless the client has heard of it`(
        id: String, expected: Finding
    ) async throws {
        let bench = try await Self.bench()
        #expect(try await bench.check([id]) { $0.delete("tasks", id) } == [expected])
        #expect(try await bench.check([id], isDeletion: true) { $0.delete("tasks", id) } == [.none])
    }

    @Test func `the final state counts, and each record gets its own finding in its own place`() async throws {
        let bench = try await Self.bench()
        let findings = try await bench.check(["z", "held", "a", "tombstone"]) {
            $0.row("tasks", "held", content: 2)
            $0.row("tasks", "other", content: 2)
            $0.row("tasks", "a")
            $0.delete("tasks", "a")
            $0.row("tasks", "held", content: 1)
            $0.row("tasks", "tombstone")
        }
        #expect(findings == [.none, .none, .deleted, .appeared])
    }

    @Test func `notes of pushes hide nothing`() async throws {
        var bench = try await Self.bench()
        bench.notes = [PushNote(table: "tasks", id: "held", state: .held, sequence: 1)]
        #expect(try await bench.check(["held"]) { $0.row("tasks", "held", content: 2) } == [.changed])
        #expect(try await bench.check(["held"]) { $0.row("tasks", "held", content: 1) } == [.none])
    }

    @Test func `a record whose newest line cannot be read is no conflict`() async throws {
        let bench = try await Self.bench()
        let findings = try await bench.check(["held", "new"]) {
            $0.row("tasks", "held", content: 2)
            $0.damaged("tasks", "held")
            $0.damaged("tasks", "new")
            $0.row("tasks", "new")
            $0.damaged("tasks", nil)
        }
        #expect(findings == [.unreadable, .appeared])
    }

    @Test func `a feed that goes is no conflict while another holds the record`() async throws {
        var bench = Bench(Bench.table("tasks", feeds: ["A", "B"]))
        _ = try await bench.pull {
            $0.row("tasks", "held")
            $0.row("tasks", "held", feed: 1)
        }
        #expect(try await bench.check(["held"]) { $0.delete("tasks", "held") } == [.none])
        let gone = try await bench.check(["held"]) {
            $0.delete("tasks", "held")
            $0.delete("tasks", "held", feed: 1)
        }
        #expect(gone == [.deleted])
    }

    @Test func `a deletion by a column counts for the records that it means`() async throws {
        var bench = Bench(Bench.table("tasks", whereColumns: ["owner"]))
        _ = try await bench.pull {
            $0.row("tasks", "held", in: "o")
            $0.row("tasks", "other", in: "p")
        }
        #expect(
            try await bench.check(["held", "other"]) { $0.delete("tasks", where: 0, is: "o") } == [.deleted, .none])
    }

    @Test func `without a hash any news is a conflict, but not what comes because everything comes`() async throws {
        let bench = try await Self.bench()
        let lines: (inout Bench.Stream) -> Void = { $0.row("tasks", "held") }
        #expect(try await bench.check(["held"], untracked: ["tasks"], lines) == [.changed])
        // Otherwise such a push would be refused for ever.
        #expect(
            try await bench.check(["held"], untracked: ["tasks"], since: CheckpointVector(), lines) == [.none])
    }

    @Test func `a table without a ledger has no conflicts`() async throws {
        var table = Bench.table("tasks")
        table.isLedgered = false
        let bench = Bench(table)
        #expect(try await bench.check(["x"]) { $0.row("tasks", "x") } == [.none])
    }
}

extension LedgerDiffBench {
    /// Looks for pushed records of the first table in a stream.
    fileprivate func check(
        _ ids: [String], isDeletion: Bool = false, untracked: Set<String> = [],
        since: CheckpointVector = CheckpointVector(["TaskV1": "TaskV1|1"]), _ lines: (inout Stream) -> Void
    ) async throws -> [ConflictCheck.Finding] {
        let schema = Schema(tables: tables)
        var stream = Stream(schema)
        lines(&stream)
        var input = LedgerDiffInput(
            plan: LedgerDiffPlan(basis: .cursor, output: .delta, isFirst: false, untracked: untracked), schema: schema,
            schemaVersion: 1, order: TableOrder(tables), types: LedgeredType.all(in: tables, at: 1, digests: [:]),
            source: ledger, key: Self.key)
        input.ledgers = [layers]
        input.signs = stream.signs
        input.notes = notes
        var reader = stream.reader()
        return try await ConflictCheck(input, since: since).findings(
            table: 0, ids.map { .init(id: $0, isDeletion: isDeletion) }, &reader
        ).map(\.finding)
    }
}
