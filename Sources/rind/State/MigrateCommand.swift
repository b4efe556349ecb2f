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
                    .usage, "The state is a file, which 'rind serve' makes when it starts.")
            }
            let options = configuration.postgresOptions(url)
            let found = try await PostgresStateStore.inspect(options, logger: .silent) ?? 0
            let due = PostgresStateStore.steps.filter { $0 > found }
            let done = dryRun || due.isEmpty ? [] : try await PostgresStateStore.migrate(options, logger: .silent)
            return MigrationReport(location: configuration.stateLocation, found: found, due: due, done: done)
        }
    }
}

/// The result.
struct MigrationReport: StateReport {
    let location: String
    /// The version before; 0 if there was no state.
    let found: Int
    let due: [Int]
    let done: [Int]

    var lines: [String] {
        let version = found == 0 ? "no state yet" : "schema version \(found)"
        let steps = due.map(String.init).joined(separator: ", ")
        let rest =
            due.isEmpty
            ? "Nothing is due." : done.isEmpty ? "Due: \(steps); nothing was changed." : "Carried out: \(steps)."
        return ["state          \(location)", "found          \(version)", rest]
    }

    var json: JSONValue {
        .object([
            "found": .integer(found), "due": .array(due.map { .integer($0) }),
            "done": .array(done.map { .integer($0) }),
        ])
    }
}
