// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel
import Testing

/// What a 409 has named is brought whatever the ledger says.
@Suite struct RedeliveryDiffTests {
    typealias Bench = LedgerDiffBench

    private static func bench() async throws -> Bench {
        var bench = Bench(Bench.table("tasks"))
        _ = try await bench.pull {
            $0.row("tasks", "x")
            $0.row("tasks", "y")
        }
        bench.redeliveries = [PendingRedelivery(table: "tasks", id: "x")]
        return bench
    }

    @Test func `a row with a pending redelivery is not dropped as equal, but is once it was delivered`() async throws {
        var bench = try await Self.bench()
        let lines: (inout Bench.Stream) -> Void = {
            $0.row("tasks", "x")
            $0.row("tasks", "y")
        }
        let answer = try await bench.pull(lines)
        #expect(answer.updated == ["tasks/x"] && answer.delivered == ["x"] && answer.report.awaitingRedelivery.isEmpty)
        #expect(answer.figures.echoes == 0)
        bench.redeliveries = []
        #expect(try await bench.pull(lines).updated.isEmpty)
    }

    @Test func `the deletion of what nobody has heard of goes out where it is pending`() async throws {
        var bench = try await Self.bench()
        let lines: (inout Bench.Stream) -> Void = { $0.delete("tasks", "new") }
        #expect(try await bench.pull(lines).deleted.isEmpty)
        bench.redeliveries = [PendingRedelivery(table: "tasks", id: "new")]
        let answer = try await bench.pull(lines)
        #expect(answer.deleted == ["tasks/new"] && answer.delivered == ["new"])
    }

    @Test func `what the stream does not bring stays pending until its type is compared`() async throws {
        var bench = try await Self.bench()
        bench.redeliveries.append(PendingRedelivery(table: "tasks", id: "unknown"))
        let plain = try await bench.pull { $0.row("tasks", "z") }
        #expect(plain.delivered.isEmpty && plain.report.awaitingRedelivery == ["tasks"] && plain.updated.isEmpty)
        let compared = try await bench.pull(plan: { $0.compared = ["tasks"] }) {
            for id in ["x", "y", "z"] { $0.row("tasks", id) }
        }
        // What is only pushed is never deleted by a comparison.
        #expect(
            compared.updated == ["tasks/x"] && compared.deleted.isEmpty && compared.report.awaitingRedelivery.isEmpty)
        #expect(Set(compared.delivered) == ["x", "unknown"])
    }

    @Test func `a record that is pending and gone is deleted by the comparison`() async throws {
        var bench = try await Self.bench()
        let compared = try await bench.pull(plan: { $0.compared = ["tasks"] }) { $0.row("tasks", "y") }
        #expect(compared.deleted == ["tasks/x"] && compared.delivered == ["x"])
    }

    @Test func `a first pull and a table without a ledger have nothing pending`() async throws {
        var bench = Bench(Bench.table("tasks"))
        bench.redeliveries = [PendingRedelivery(table: "tasks", id: "x")]
        #expect(try await bench.pull { $0.row("tasks", "x") }.created == ["tasks/x"])
        bench.tables[0].isLedgered = false
        #expect(try await bench.pull { $0.row("tasks", "y") }.report.awaitingRedelivery.isEmpty)
    }
}
