// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import NIOCore

/// Measures pulls that bring nothing, which are most pulls.
///
/// Question: how many of them does the gateway answer in a second, and how long do they take, beside nginx, which
/// passes the same call to the backend through, and beside the gateway that a team would write first?
///
/// N: 256 callers on 32 kept connections, for a few seconds each, in turns.
struct Small: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Small",
        abstract: "Pulls that bring nothing, through the gateway, nginx and a plain Node.js gateway.",
        discussion: """
            Every caller has made its first sync. The backend is one process that answers a stream from a known \
            checkpoint with the complete line; nginx passes just that call through. All of them take turns, and ratios \
            are taken within one turn. The load shares the processors with them.
            """)

    @Option(help: "How many kept connections send requests.")
    var connections = 32

    @Option(help: "How many callers share the connections.")
    var callers = 256

    @Option(help: "How many seconds each of them is measured in a turn.")
    var seconds = 2

    @Option(help: "How many turns there are; one more, before them, is not measured.")
    var runs: Int?

    @Option(help: ArgumentHelp("Another build of rind that takes part, to compare with.", valueName: "path"))
    var other: String?

    @Flag(help: "One short turn, to see that everything works.")
    var quick = false

    @Flag(help: "Prints JSON to standard output, and the table to standard error.")
    var json = false

    mutating func validate() throws {
        guard connections > 0, callers >= connections, seconds > 0, (runs ?? 1) > 0 else {
            throw ValidationError("--connections, --seconds and --runs begin at 1, --callers at --connections")
        }
    }

    func run() async throws { try await WorkingDirectory.with(measure) }

    private func measure(in directory: URL) async throws {
        let course = try await SmallCourse(
            connections: connections, callers: callers, directory: directory, other: other)
        let report: SmallReport
        do {
            report = try await course.measure(
                for: .seconds(quick ? 1 : Int64(seconds)), runs: runs ?? (quick ? 1 : 5))
        } catch {
            await course.stop()
            throw error
        }
        await course.stop()
        try Text.publish(report, as: report.text, isJSON: json)
    }
}
