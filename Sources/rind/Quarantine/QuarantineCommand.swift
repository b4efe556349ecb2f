// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rind quarantine`.
struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Lists and shows the quarantine, schedules retries, and drops entries.",
        discussion: """
            EXAMPLES
              rind quarantine list --config rind.ini
              rind quarantine show push-12 --config rind.ini
              rind quarantine retry push-12 push-13 --config rind.ini
              rind quarantine retry --all --config rind.ini
              rind quarantine drop line-7 --config rind.ini

            The quarantine has two kinds of entries. 'push-12' is a record that an app has
            pushed and the backend refused, with '[push] rejected = quarantine': its device
            takes it for synced, and it waits here. 'line-7' is a line of the backend's
            stream that could not be made a record of; devices go without it.

            Repair the cause first: a right that is missing, a rule of the backend, the
            mapping. Then 'retry'.

            All of these work while the gateway runs. Listing and showing
            change nothing. Every change is a single transaction.
            """,
        subcommands: [
            QuarantineListCommand.self, QuarantineShowCommand.self, QuarantineRetryCommand.self,
            QuarantineDropCommand.self,
        ])
}
