// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rind state`.
struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Moves or repairs the state.",
        discussion: """
            EXAMPLE
              rind state copy --from sqlite:rind-state.db --to postgresql://rind@db/rind
              rind state distrust --config rind.ini
              rind state accept-clock --config rind.ini
              rind state accept-key --config rind.ini
            """,
        subcommands: [
            StateCopyCommand.self, StateDistrustCommand.self, StateAcceptClockCommand.self, StateAcceptKeyCommand.self,
        ])
}
