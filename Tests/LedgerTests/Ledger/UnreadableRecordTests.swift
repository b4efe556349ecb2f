// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import Testing

/// Records that are held and whose lines cannot be read for a while (findings 13 and 24).
@Suite struct UnreadableRecordTests {
    private typealias Bench = LedgerDiffBench

    /// A migration fetches the table anew, and what the app had thrown away before must come.
    @Test(arguments: ["x", nil], [true, false])
    func `what could not be read while its table was fetched goes out once it can`(
        id: String?, isAdded: Bool
    ) async throws {
        var bench = Bench(Bench.table("notes"))
        _ = try await bench.pull { $0.row("notes", "x", content: 7) }
        let migration = try await bench.pull(plan: {
            $0.compared = ["notes"]
            if isAdded { $0.renewed = ["notes"] } else { $0.gained = ["notes"] }
        }) { $0.damaged("notes", id) }
        #expect(migration.deleted.isEmpty)
        #expect(try await bench.holds("notes", "x"))
        let repaired = try await bench.pull { $0.row("notes", "x", content: 7) }
        #expect(repaired.updated == ["notes/x"] && repaired.created.isEmpty)
        #expect(try await bench.pull { $0.row("notes", "x", content: 7) }.updated.isEmpty)
    }

    @Test(arguments: [[], ["notes"]] as [Set<String>])
    func `what cannot be read in another pull keeps its hash`(compared: Set<String>) async throws {
        var bench = Bench(Bench.table("notes"))
        _ = try await bench.pull { $0.row("notes", "x", content: 7) }
        _ = try await bench.pull(plan: { $0.compared = compared }) { $0.damaged("notes", "x") }
        #expect(try await bench.pull { $0.row("notes", "x", content: 7) }.updated.isEmpty)
    }
}
