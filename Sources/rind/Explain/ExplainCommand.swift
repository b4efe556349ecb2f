// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rind explain`.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Tells what a configuration means for clients.",
        discussion: """
            EXAMPLES
              rind explain schema --config rind.ini
              rind explain schema --config rind.ini --from 9 --to 12

            It asks nobody and changes nothing.
            """,
        subcommands: [ExplainSchemaCommand.self])
}
