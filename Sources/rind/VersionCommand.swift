// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rind version`.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Prints the version.",
        discussion: """
            EXAMPLE
              $ rind version
              \(Version.line)
            """)

    func run() { Console.out(Version.line) }
}
