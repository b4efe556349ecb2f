// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Measures a first sync through the gateway, through nginx and through a plain gateway in Node.js.
///
/// Question: how much slower is the gateway than nginx, which passes the same bytes through, and how much faster than
/// the gateway that a team would write first?
///
/// N: 300,000 rows, 190 MB of stream. Bound: the gateway stays under 256 MiB resident, whatever the stream's size.
struct FirstSync: Scenario {
    static let configuration = CommandConfiguration(
        commandName: "FirstSync",
        abstract: "A first sync through the gateway, through nginx and through a plain Node.js gateway.",
        discussion: """
            All of them run as processes of their own, behind one backend and before one client, and take turns; \
            ratios are taken pair by pair. Before anything is measured, the gateway's answer is compared with that of \
            Node.js byte by byte.
            """)

    /// The most memory that the gateway may keep resident, in bytes.
    static let memoryBound = 256 << 20

    /// The number of rows whose processor time has a goal.
    static let usualRows = 300_000

    @Option(help: "How many rows the stream has.")
    var rows: Int?

    @Option(help: "How often each of them is measured.")
    var runs: Int?

    @Flag(help: "A small stream and two runs, to see that everything works.")
    var quick = false

    @Flag(help: "Prints JSON to standard output, and the table to standard error.")
    var json = false

    @Flag(help: "Leaves Node.js out.")
    var skipNode = false

    @Flag(help: "Leaves nginx out.")
    var skipNginx = false

    @Flag(help: "Has nginx buffer what it passes through; by default it passes bytes on as they come.")
    var nginxBuffering = false

    @Flag(help: "The client accepts gzip, which the gateway and nginx use with the same level; leaves Node.js out.")
    var gzip = false

    @Option(help: ArgumentHelp("Another build of rind that takes part, to compare with.", valueName: "path"))
    var other: String?

    mutating func validate() throws {
        guard (rows ?? 1) > 0, (runs ?? 1) > 0 else { throw ValidationError("--rows and --runs begin at 1") }
    }

    func measure(in directory: URL) async throws -> FirstSyncReport {
        let rows = rows ?? (quick ? 5_000 : Self.usualRows)
        let course = try await FirstSyncCourse(
            rows: rows, directory: directory, withNginx: !skipNginx, withNode: !skipNode && !gzip,
            isNginxBuffering: nginxBuffering, isCompressed: gzip, other: other)
        do {
            let report = try await course.measure(runs: runs ?? (quick ? 2 : 7))
            await course.stop()
            return report
        } catch {
            await course.stop()
            throw error
        }
    }
}
