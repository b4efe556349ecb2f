// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import NIOCore

/// Measures a gateway whose state holds many replicas.
///
/// Question: how long does the gateway take to be ready after it was killed, and does an idle pull cost more, if the
/// state holds a million replicas instead of a thousand?
///
/// N: 1,000 and 1,000,000 replicas, the same 256 callers of each. Goals: see ``ScaleReport/Goal``.
struct Scale: Scenario {
    static let configuration = CommandConfiguration(
        commandName: "Scale",
        abstract: "A state of a million replicas: ready after a kill, and idle pulls.",
        discussion: """
            Two gateways have the replicas of the same callers in their states; the others are copies, made by SQL. \
            They take turns, and ratios are taken within one turn. A missed goal is printed and is no failure.
            """)

    @Option(help: "How many replicas the large state has.")
    var replicas: Int?

    @Option(help: "How many replicas the small state has.")
    var few = 1_000

    @Option(help: "How many seconds each gateway is measured in a turn.")
    var seconds = 2

    @Option(help: "How many turns there are, and how often each gateway is killed.")
    var runs: Int?

    @OptionGroup var options: RunOptions

    mutating func validate() throws {
        guard seconds > 0, (runs ?? 1) > 0, few >= ScaleCourse.callers, (replicas ?? few) >= few else {
            throw ValidationError(
                "--seconds and --runs begin at 1, --few at \(ScaleCourse.callers), --replicas at --few")
        }
    }

    var json: Bool { options.json }

    func measure(in directory: URL) async throws -> ScaleReport {
        let course = ScaleCourse(directory: directory)
        do {
            let report = try await course.measure(
                few: few, many: replicas ?? (options.quick ? 2 * few : 1_000_000),
                runs: runs ?? (options.quick ? 1 : 7),
                for: options.quick ? .milliseconds(200) : .seconds(Int64(seconds)))
            await course.stop()
            return report
        } catch {
            await course.stop()
            throw error
        }
    }
}
