// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import NIOCore

/// Measures a gateway that is asked for more than it can do.
///
/// Question: if twice or ten times as many pulls come as the gateway can answer, how many does it still answer, and how
/// long do the others wait until they hear that they should come later?
///
/// N: first syncs of 50 rows, each by a caller who is new, at a steady rate; once the processors limit, once a backend
/// that takes 400 ms. Goals: see ``OverloadReport/Goal``.
struct Overload: Scenario {
    static let configuration = CommandConfiguration(
        commandName: "Overload",
        abstract: "Twice and ten times as many pulls as the gateway can answer.",
        discussion: """
            What it can do is found with kept connections, each of which sends its next pull when the one before is \
            answered. Then pulls come at a steady rate, whether or not earlier ones are answered. The gateway has its \
            default limits. The load shares the processors with it. A missed goal is printed and is no failure.
            """)

    @Option(help: "How many milliseconds the slow backend takes before a stream begins.")
    var latency = 400

    @Option(help: "How many connections the pulls may use at a steady rate.")
    var connections = 2_000

    @Option(help: "How many seconds each rate is offered in a turn.")
    var seconds = 5

    @Option(help: "How many turns there are.")
    var runs: Int?

    @OptionGroup var options: RunOptions

    mutating func validate() throws {
        guard latency > 0, connections >= OverloadCourse.pulls, seconds > 0, (runs ?? 1) > 0 else {
            throw ValidationError(
                "--latency, --seconds and --runs begin at 1, --connections at \(OverloadCourse.pulls)")
        }
    }

    var json: Bool { options.json }

    func measure(in directory: URL) async throws -> OverloadReport {
        var report = OverloadReport(machine: .current)
        for latency in [0, latency] {
            let course = try await OverloadCourse(
                latency: latency, connections: connections, directory: directory.appendingPathComponent("\(latency)"))
            do {
                report.sections.append(
                    try await course.measure(
                        for: options.quick ? .milliseconds(500) : .seconds(Int64(seconds)),
                        runs: runs ?? (options.quick ? 1 : 5)))
            } catch {
                await course.stop()
                throw error
            }
            await course.stop()
        }
        return report
    }
}
