// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import NIOCore

/// Measures a gateway whose clients read slowly.
///
/// Question: how much memory does a client take that reads a large answer slowly, and how long do small pulls take
/// beside many of them?
///
/// N: 1,000 clients that read 5 MB each at 64 KiB/s. Goals: see ``SlowReport/Goal``.
struct Slow: Scenario {
    static let configuration = CommandConfiguration(
        commandName: "Slow",
        abstract: "A thousand clients that read large answers slowly, and small pulls beside them.",
        discussion: """
            The clients begin to read when the answers of all have begun; in the end they read the rest at once, and \
            every answer must have all of its records. Memory is what is resident beyond what was before. A missed goal \
            is printed and is no failure.
            """)

    @Option(help: "How many clients read slowly.")
    var clients: Int?

    @Option(help: "How many records each of their answers has, of about 300 bytes.")
    var rows: Int?

    @Option(help: "How many seconds the clients read, and idle pulls are measured beside them.")
    var seconds = 20

    @Option(help: ArgumentHelp("The gateway's '[spool] memory_total' instead of the default.", valueName: "size"))
    var spoolMemory: String?

    @OptionGroup var options: RunOptions

    mutating func validate() throws {
        guard [clients, rows, seconds].allSatisfy({ $0 ?? 1 > 0 }) else {
            throw ValidationError("--clients, --rows and --seconds begin at 1")
        }
    }

    var json: Bool { options.json }

    func measure(in directory: URL) async throws -> SlowReport {
        let course = try await SlowCourse(
            clients: clients ?? (options.quick ? 20 : 1_000), rows: rows ?? (options.quick ? 1_000 : 17_000),
            spoolMemory: spoolMemory,
            directory: directory)
        do {
            let report = try await course.measure(for: .seconds(options.quick ? 1 : Int64(seconds)))
            await course.stop()
            return report
        } catch {
            await course.stop()
            throw error
        }
    }
}
