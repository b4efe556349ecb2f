// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Measures every scenario that has goals, one after the other.
///
/// Question: what does the gateway reach of what it should, and what does it miss?
struct Goals: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Goals",
        abstract: "Every scenario that has goals, and one table of what was reached.",
        discussion: """
            Each scenario prints its own report when it has ended, and all of them together take about a quarter of an \
            hour. A missed goal is printed and is no failure; a wrong answer is one, and so is an exceeded bound.
            """)

    @Flag(help: "Small data and short turns, to see that everything works; the figures mean nothing.")
    var quick = false

    /// The scenarios and their options: fewer runs than each has alone.
    private static let plan: [(scenario: any Scenario.Type, options: [String])] = [
        (Small.self, ["--runs", "3"]),
        (FirstSync.self, []),
        (FirstSync.self, ["--rows", "3000000", "--runs", "1", "--skip-node"]),
        (FirstSync.self, ["--gzip", "--runs", "5"]),
        (BytePath.self, []),
        (Ledger.self, []),
        (Slow.self, []),
        (Overload.self, ["--runs", "3"]),
        (Scale.self, ["--runs", "5"]),
        (State.self, ["--replicas", "100000", "--runs", "5"]),
    ]

    func run() async throws {
        var (rows, failures) = ([["goal", "measured", "range", "wanted", ""]], 0)
        // Small data are the same for every number of rows.
        for (scenario, options) in Self.plan where !quick || !options.contains("--rows") {
            let name = scenario.configuration.commandName ?? ""
            Text.note("== \(([name] + options).joined(separator: " "))")
            do {
                let report = try await measure(scenario, options)
                print(report.text + "\n")
                rows += report.outcomes.map(\.cells)
                if report.isWithinBounds == false { failures += 1 }
            } catch {
                Text.note("\(name): \(error)")
                rows.append(["\(name): no figures", "-", "-", "-", "FAILED"])
                failures += 1
            }
        }
        print(Text.table(rows))
        if quick { print("These are small data and short turns: the figures mean nothing.") }
        print("docs/BENCHMARKS.md says under \"What is missed, and why\" what is known about missed goals.")
        if failures > 0 { throw ExitCode.failure }
    }

    private func measure<S: Scenario>(_ scenario: S.Type, _ options: [String]) async throws -> any Report {
        let command = try scenario.parse(quick ? ["--quick"] + options.filter { $0 == "--gzip" } : options)
        return try await WorkingDirectory.with(command.measure)
    }
}
