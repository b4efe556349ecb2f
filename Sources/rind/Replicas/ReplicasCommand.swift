// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rind replicas`.
struct ReplicasCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replicas", abstract: "Shows the client databases that the state knows, and changes single ones.",
        discussion: """
            EXAMPLES
              rind replicas list --config rind.ini
              rind replicas show 0123456789abcdef --config rind.ini
              rind replicas resync 0123 --config rind.ini

            A replica is one installed client database. Its ID is the 'replica' of the log;
            any unique prefix of four or more digits will do.

            All of these work while the gateway runs. Listing and showing
            change nothing. Every change is a single transaction, and the replica's next
            sync finds it.
            """,
        subcommands: [
            ReplicasListCommand.self, ReplicasShowCommand.self, ReplicasForgetCommand.self,
            ReplicasStuckCommand.self, ReplicasResyncCommand.self, ReplicasAcceptCommand.self,
        ])
}

/// The argument that names one replica.
struct ReplicaArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The replica's digits, at least 4 of them.", valueName: "id"))
    var id: String

    /// The name.
    var name: ReplicaName {
        get throws { try ReplicaName(validating: id) }
    }

    func validate() throws { _ = try name }
}
