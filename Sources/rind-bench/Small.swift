// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import NIOCore

/// Measures small syncs, which are most syncs: pulls that bring nothing, a few changes or a small first sync, and small
/// pushes.
///
/// Question: how many of them does the gateway answer in a second, and how long do they take, beside nginx, which
/// passes the same call to the backend through, and beside the gateway that a team would write first?
///
/// N: 32 to 256 callers on 32 and on 256 kept connections, for a few seconds each, in turns. Goals: see
/// ``SmallScenario/goals``.
struct Small: Scenario {
    static let configuration = CommandConfiguration(
        commandName: "Small",
        abstract: "Small pulls and pushes, through the gateway, nginx and a plain Node.js gateway.",
        discussion: """
            The backend is one process that has its answers ready; nginx passes just the call through that the gateway \
            makes. All of them take turns, and ratios are taken within one turn. The load shares the processors with \
            them. A missed goal is printed and is no failure; a wrong answer is one.
            """)

    @Option(help: "Only this scenario: idle, idle-server, incremental, first or push.")
    var scenario: SmallScenario?

    @Option(help: "How many kept connections send requests (default: both 32 and 256).")
    var connections: Int?

    @Option(help: "How many callers share the connections (default: 256, and for incremental as many as connections).")
    var callers: Int?

    @Option(help: "How many seconds each server is measured in a turn.")
    var seconds = 2

    @Option(help: "How many turns there are; one more, before them, is not measured.")
    var runs: Int?

    @Option(help: ArgumentHelp("Another build of rind that takes part, to compare with.", valueName: "path"))
    var other: String?

    @Flag(help: "Short turns with few callers, to see that everything works.")
    var quick = false

    @Flag(help: "Prints JSON to standard output, and the table to standard error.")
    var json = false

    mutating func validate() throws {
        guard [connections, callers, seconds, runs].allSatisfy({ $0 ?? 1 > 0 }) else {
            throw ValidationError("--connections, --callers, --seconds and --runs begin at 1")
        }
    }

    func measure(in directory: URL) async throws -> SmallReport {
        var report = SmallReport(machine: .current)
        for (number, plan) in plans.enumerated() {
            let course = try await SmallCourse(
                plan, directory: directory.appendingPathComponent("\(number)"), other: other)
            do {
                let time: TimeAmount = quick ? .milliseconds(200) : .seconds(Int64(seconds))
                report.sections.append(try await course.measure(for: time, runs: runs ?? (quick ? 1 : 5)))
            } catch {
                await course.stop()
                throw error
            }
            await course.stop()
            report.notes += course.notes.filter { !report.notes.contains($0) }
        }
        return report
    }

    private var plans: [SmallCourse.Plan] {
        (scenario.map { [$0] } ?? SmallScenario.allCases).flatMap { scenario in
            let usual = quick ? [8] : [32, 256]
            return (connections.map { [$0] } ?? usual).map { connections in
                let usual = quick || scenario == .incremental ? connections : max(256, connections)
                return SmallCourse.Plan(
                    scenario: scenario, sizes: scenario.sizes(isQuick: quick), connections: connections,
                    callers: max(callers ?? usual, connections))
            }
        }
    }
}

extension SmallScenario: ExpressibleByArgument {}
