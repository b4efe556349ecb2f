// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayConfig
import JSONBytes
import PostgresState
import StateStore

/// `rind migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Brings the schema of a state in PostgreSQL up to date.",
        discussion: """
            EXAMPLE
              rind migrate --config rind.ini --dry-run
              rind migrate --config rind.ini

            'rind serve' does the same when it starts. This command is for databases
            whose schema another user may change, and for upgrades: gateways of the
            version before go on with the new schema, so migrate first, and then replace
            them one by one. With '--dry-run' it only says what is due.
            """)

    @Flag(help: "Only say what is due.")
    var dryRun = false

    @OptionGroup var state: StateArguments

    func run() async throws {
        try await state.run { configuration in
            guard case .postgres(let url) = configuration.state.url else {
                throw CommandFailure(
                    .configuration, "The state is a file, which 'rind serve' makes when it starts.")
            }
            let options = configuration.postgresOptions(url)
            let found = try await PostgresStateStore.inspect(options, logger: .silent) ?? 0
            // One that is there may be an unfinished copy.
            if found > 0 {
                try await configuration.closing(PostgresStateStore.openShared(options, logger: .silent)) { _ in }
            }
            let isDue = found < PostgresStateStore.version
            let isDone = isDue && !dryRun ? try await PostgresStateStore.migrate(options, logger: .silent) : false
            return MigrationReport(location: configuration.stateLocation, found: found, isDue: isDue, isDone: isDone)
        }
    }
}

/// The result.
struct MigrationReport: StateReport {
    let location: String
    /// The version before; 0 if there was no state.
    let found: Int
    let isDue: Bool
    let isDone: Bool

    var lines: [String] {
        let version = found == 0 ? "no state yet" : "schema version \(found)"
        let due = "schema version \(PostgresStateStore.version)"
        let rest = isDone ? "Made: \(due)." : isDue ? "Due: \(due); nothing was changed." : "Nothing is due."
        return ["state          \(location)", "found          \(version)", rest]
    }

    var json: JSONValue {
        .object([
            "found": .integer(found), "version": .integer(PostgresStateStore.version), "due": .bool(isDue),
            "done": .bool(isDone),
        ])
    }
}
