// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import NIOCore

/// Measures the gateway with its state in SQLite and in PostgreSQL.
///
/// Question: how many idle pulls does a gateway answer with each store, and without any; and what do one look-up and
/// one commit cost by the number of replicas?
///
/// N: 256 callers; 1,000, 100,000 and 5,000,000 replicas. Goals: see ``StateReport/Goal``.
struct State: Scenario {
    static let configuration = CommandConfiguration(
        commandName: "State",
        abstract: "A state in SQLite and in PostgreSQL, small and large.",
        discussion: """
            Idle pulls with each store take turns with requests that are passed through. Then one connection at a time \
            makes idle pulls, each of which is a look-up, and first syncs, each of which commits, with states that \
            hold few, more and many replicas; the others are copies, made by SQL. PostgreSQL is started for the \
            measurement, and shares the processors. Five million replicas take 20 GB of disk and half an hour. A \
            missed goal is printed and is no failure.
            """)

    @Option(help: "How many replicas the largest state has.")
    var replicas: Int?

    @Option(help: "How many seconds each gateway is measured in a turn.")
    var seconds = 2

    @Option(help: "How many turns there are.")
    var runs: Int?

    @OptionGroup var options: RunOptions

    mutating func validate() throws {
        guard seconds > 0, (runs ?? 1) > 0, (replicas ?? 1_000) >= 1_000 else {
            throw ValidationError("--seconds and --runs begin at 1, --replicas at 1000")
        }
    }

    var json: Bool { options.json }

    func measure(in directory: URL) async throws -> StateReport {
        let most = replicas ?? (options.quick ? 2_000 : 5_000_000)
        let course = StateCourse(directory: directory)
        do {
            let report = try await course.measure(
                sizes: [1_000, 100_000].filter { $0 < most } + [most], runs: runs ?? (options.quick ? 1 : 7),
                for: options.quick ? .milliseconds(200) : .seconds(Int64(seconds)))
            await course.stop()
            return report
        } catch {
            await course.stop()
            throw error
        }
    }
}
