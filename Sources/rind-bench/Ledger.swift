// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Measures what the ledger costs: in a first sync, in a small pull, and on disk.
///
/// Questions: how much longer does a first sync take, and how much more memory, because the gateway remembers what it
/// sent? Does a pull of a few changes take longer if the ledger is large? How large does the state file become?
///
/// N: 1,000,000 records, 640 MB of stream; the small pull against a replica of 10,000. Bounds: see
/// ``LedgerReport/Bound``.
struct Ledger: Scenario {
    static let configuration = CommandConfiguration(
        commandName: "Ledger",
        abstract: "What remembering costs: a first sync with and without ledger, small pulls, bytes a record.",
        discussion: """
            The same program with '[ledger] mode = full' and 'mode = off' takes turns, each time as a fresh process with \
            an empty state. Small pulls go in turns to a replica with many records and to one with few.
            """)

    @Option(help: "How many records the large replica has.")
    var rows: Int?

    @Option(help: "How many records the small replica has.")
    var smallRows: Int?

    @Option(help: "How often a first sync is measured with and without a ledger.")
    var runs: Int?

    @Option(help: "How many small pulls are measured on each replica.")
    var pulls: Int?

    @Option(help: "How many records have changed for a small pull.")
    var changes = 10

    @Flag(help: "A few records and runs, to see that everything works; nothing is held against its bound.")
    var quick = false

    @Flag(help: "Prints JSON to standard output, and the table to standard error.")
    var json = false

    mutating func validate() throws {
        guard [rows, smallRows, runs, pulls, changes].allSatisfy({ $0 ?? 1 > 0 }) else {
            throw ValidationError("all numbers begin at 1")
        }
    }

    func measure(in directory: URL) async throws -> LedgerReport {
        let rows = rows ?? (quick ? 5_000 : 1_000_000)
        let course = LedgerCourse(rows: rows, changes: changes, directory: directory)
        var report = LedgerReport(rows: rows, changes: changes, machine: .current, isJudged: !quick)
        do {
            report.firstSyncs = try await course.measureFirstSyncs(runs: runs ?? (quick ? 1 : 5))
            report.pulls = try await course.measurePulls(
                smallRows: smallRows ?? (quick ? 500 : 10_000), pulls: pulls ?? (quick ? 3 : 40))
            report.sizes = try await course.measureSizes()
        } catch {
            await course.stop()
            throw error
        }
        await course.stop()
        return report
    }
}
