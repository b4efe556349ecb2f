// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rind principals`.
struct PrincipalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "principals", abstract: "Erases users from the state.",
        discussion: """
            EXAMPLE
              rind principals erase 17 --config rind.ini

            A principal is a user of the backend, in one scope if syncs have scopes; the
            state and the log name it by a digest.
            """,
        subcommands: [PrincipalsEraseCommand.self])
}
