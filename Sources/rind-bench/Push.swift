// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Measures what the gateway adds to a push.
///
/// Question: how much longer does a push take through the gateway than the same operations sent to the backend
/// directly, by stream push and call by call, and how much memory does a push of several weeks' changes take?
///
/// N: 10,000 records, and 50,000 for the memory. Bounds: see ``PushReport/Bound``.
struct Push: Scenario {
    static let configuration = CommandConfiguration(
        commandName: "Push",
        abstract: "A push through the gateway and the same operations sent directly, in one request and call by call.",
        discussion: """
            The backend is the demo backend on a SQLite file, in a process of its own. Two users push in turns: one \
            through the gateway, one without it, the same number of records in the same order and, call by call, over \
            as many connections as the gateway uses. Ratios are taken pair by pair.
            """)

    @Option(help: "How many records a push has.")
    var records: Int?

    @Option(help: "How many records the push has whose memory is measured.")
    var large: Int?

    @Option(help: "How often each way is measured.")
    var runs: Int?

    @Option(help: "Only this way: stream or calls.")
    var style: PushReport.Style?

    @Option(help: "How many calls are made at a time.")
    var parallel = 4

    @Option(help: "How many milliseconds the backend waits before it carries a call out; a stream push does not wait.")
    var latency = 1

    @Flag(help: "A few records and runs, to see that everything works; nothing is held against its bound.")
    var quick = false

    @Flag(help: "Prints JSON to standard output, and the table to standard error.")
    var json = false

    mutating func validate() throws {
        guard [records, large].allSatisfy({ $0 ?? 10 >= 10 }), (runs ?? 1) > 0, parallel > 0, latency >= 0 else {
            throw ValidationError("--records and --large begin at 10, --runs and --parallel at 1, --latency at 0")
        }
    }

    func measure(in directory: URL) async throws -> PushReport {
        let (records, runs) = (records ?? (quick ? 100 : 10_000), runs ?? (quick ? 2 : 9))
        let large = large ?? (quick ? 500 : 50_000)
        let course = PushCourse(parallel: parallel, latency: latency, directory: directory)
        var report = PushReport(
            records: records, large: large, parallel: parallel, latency: latency, machine: .current, isJudged: !quick)
        do {
            for style in style.map({ [$0] }) ?? PushReport.Style.allCases {
                var way = PushReport.Way(style: style)
                way.pairs = try await course.measure(style, records: records, runs: runs)
                way.memory = try await course.measureMemory(style, records: large)
                report.ways.append(way)
            }
        } catch {
            await course.stop()
            throw error
        }
        await course.stop()
        return report
    }
}

extension PushReport.Style: ExpressibleByArgument {}
