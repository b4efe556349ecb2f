// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rind state`.
struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Repairs the state as a whole, while no gateway runs.",
        discussion: """
            EXAMPLE
              rind state accept-clock --config rind.ini
            """,
        subcommands: [StateAcceptClockCommand.self])
}
